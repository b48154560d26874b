import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo, path } from '../../../testing/git-repo.ts'
import type { Oid } from '../../names.ts'
import { formatCommit, formatTree } from '../format.ts'
import { createObjectSet, formatPack, writePack } from '../pack-writer.ts'
import { createHistoryPages } from './pages.ts'

const LENGTH = 2_600
const signal = new AbortController().signal

/** A straight line, of which every thousandth commit changes `rare`. */
async function longHistory() {
  const t = createTestRepo()
  const objects = createObjectSet()
  const person = { name: 'A', email: 'a@b.c', time: 1_700_000_000_000, timezone: '+0000' }
  const file = (name: string, text: string) => ({
    mode: '100644',
    type: 'blob' as const,
    oid: objects.add('blob', Buffer.from(text)),
    name,
  })
  const oids: Oid[] = []
  for (let i = 0; i < LENGTH; i++) {
    const entries = [file('often', `${i}`), file('rare', `${Math.floor(i / 1000)}`)]
    const tree = objects.add('tree', await formatTree(entries))
    const commit = { tree, parents: oids.slice(-1), author: person, committer: person, message: `${i}` }
    oids.push(objects.add('commit', formatCommit(commit)))
  }
  const quarantine = t.quarantine()
  await writePack(quarantine, await formatPack(objects))
  t.adopt(join(quarantine, 'pack'))
  const contents = new Map([...objects].map(({ oid, content }) => [oid, Buffer.from(content)]))
  return { ...t, contents, newestFirst: oids.toReversed() }
}

test('goes on where a page ended, and asks git only where it is far', async () => {
  using t = await longHistory()
  const [from] = t.newestFirst
  assert.ok(from)
  const pages = createHistoryPages()
  const query = { scope: 'a', from, limit: 400 }
  let read = 0
  const objects = {
    async findBytes(oid: Oid) {
      read++
      return t.contents.get(oid)
    },
  }
  const find = (skip: number, more: object = {}) => pages.find(objects, { ...query, skip, ...more }, signal)

  for (let skip = 0; skip < LENGTH; skip += 400) {
    read = 0
    const page = await find(skip)
    assert.deepEqual(page?.oids, t.newestFirst.slice(skip, skip + 400))
    assert.equal(page?.more, skip + 400 < LENGTH)
    assert.ok(read <= 402, `${read}`)
  }
  read = 0
  assert.deepEqual((await find(800))?.oids, t.newestFirst.slice(800, 1200))
  assert.equal(read, 0)

  // Nobody has been there, and it is far.
  assert.equal(await find(2200, { scope: 'b' }), undefined)
  const asked = await pages.ask(t.repo, { ...query, scope: 'b', skip: 2000, limit: 100 })
  assert.deepEqual(asked, { oids: t.newestFirst.slice(2000, 2100), more: true })
  const ahead = await find(2100, { scope: 'b' })
  assert.deepEqual(ahead, { oids: t.newestFirst.slice(2100, 2500), more: true })
  assert.deepEqual(await find(2500, { scope: 'b' }), { oids: t.newestFirst.slice(2500), more: false })
  assert.equal(read, 0)

  const rare = { path: path('rare'), limit: 10 }
  assert.equal(await find(0, rare), undefined)
  const told = await pages.ask(t.repo, { ...query, ...rare, skip: 0 })
  const changes = [2000, 1000, 0].map((i) => t.newestFirst[LENGTH - 1 - i])
  assert.deepEqual(told, { oids: changes, more: false })
  assert.deepEqual(await find(0, rare), told)
})
