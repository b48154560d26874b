import assert from 'node:assert/strict'
import test from 'node:test'
import { createShares } from '../../platform/shares.ts'
import { formatRawPack, openRawPack } from '../../testing/pack-files.ts'
import type { Oid } from '../names.ts'
import { createOpenedPacks } from './opened-packs.ts'
import { Unusual } from './unusual.ts'

const MB = 1024 * 1024

function setUp(maxBytes: number, objects: number) {
  const entries = Array.from({ length: objects }, (_, i) => ({
    oid: i.toString(16).padStart(40, '0') as Oid,
    bytes: Buffer.from('an entry'),
  }))
  const files = formatRawPack(entries)
  const events: string[] = []
  const openPack = async (id: string) => {
    events.push(`open ${id}`)
    return {
      ...openRawPack(files),
      close: async () => {
        events.push(`close ${id}`)
      },
    }
  }
  const pages = createShares<Buffer>({ max: MB, maxEach: MB, weightOf: ({ length }) => length })
  const opened = createOpenedPacks({ store: { openPack }, pages, maxBytes, maxBytesEach: maxBytes })
  return { opened, events }
}

test('a pack is opened once for all who come, and closed when it had to go and nobody holds it', async () => {
  // An index of 20,000 objects and an open file take less than a mebibyte, two of them more.
  const { opened, events } = setUp(MB, 20_000)
  const [one, same] = await Promise.all([opened.hold('org', 'a'), opened.hold('org', 'a')])
  assert.equal(one, same)
  assert.deepEqual(events, ['open a'])
  const other = await opened.hold('org', 'b')
  assert.deepEqual(events, ['open a', 'open b'], 'somebody reads from it')
  opened.giveBack(one)
  assert.equal((await one.read(0, 4)).toString(), 'PACK')
  opened.giveBack(same)
  assert.deepEqual(events, ['open a', 'open b', 'close a'])
  opened.giveBack(other)
  opened.giveBack(await opened.hold('org', 'b'))
  opened.distrust('org', 'b')
  assert.deepEqual(events, ['open a', 'open b', 'close a', 'close b'])
  const last = await opened.hold('org', 'b')
  opened.close()
  opened.giveBack(last)
  const late = await opened.hold('org', 'a')
  opened.giveBack(late)
  assert.deepEqual(events.slice(4), ['open b', 'close b', 'open a', 'close a'])
})

test('large indexes are not read again and again when there is no room for all of them', async () => {
  const { opened } = setUp(2 * MB, 40_000)
  for (const id of ['a', 'b']) opened.giveBack(await opened.hold('org', id))
  await assert.rejects(opened.hold('org', 'a'), Unusual)
  opened.giveBack(await opened.hold('org', 'b'))
  const { opened: tiny } = setUp(MB, 40_000)
  await assert.rejects(tiny.hold('org', 'a'), Unusual)
  opened.close()
})
