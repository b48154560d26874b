// Which files the event of a commit made by the server names: those that git finds different.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { before, it } from 'node:test'
import { createSqlite } from '@trellis/server/testing'
import { createRandom } from '../hostile-body.ts'
import { type Client, useHost } from './harness.ts'

const COMMITS = 20

const host = useHost(createSqlite)
const name = 'paths'
let client: Client
before(async () => {
  await host.repo(name)
  client = host.client()
  await client.run('init', '-q')
})

type Change =
  | { op: 'put'; path: string; content: string; mode?: string }
  | { op: 'delete'; path: string }
  | { op: 'move'; from: string; to: string }

const put = (path: string, content: string): Change => ({ op: 'put', path, content })

const commit = (changes: Change[]) =>
  host.call('git/commits/create', { name, branch: 'main', message: 'Change', changes })

/** What the last event says, and what git says of the same two commits. */
async function said(): Promise<{ ours: string[]; gits: string[] }> {
  const { payload } = (await host.events(name)).findLast(({ type }) => type === 'git.push') ?? assert.fail()
  await client.run('fetch', '-q', host.remote(name), 'main')
  const range = payload.before ? [payload.before, payload.after] : ['--root', payload.after]
  const listed = await client.run(
    'diff-tree',
    '-r',
    '--no-commit-id',
    '--no-renames',
    '--name-only',
    '-z',
    ...range,
  )
  return { ours: payload.paths, gits: listed.split('\0').filter((path: string) => path !== '') }
}

const known: [string, Change[]][] = [
  ['files', ['a', 'docs/1', 'docs/2', 'k', 'same', 'ü', 'z/1', '𐀀', '\uffee'].map((path) => put(path, path))],
  ['a folder that goes', [{ op: 'delete', path: 'docs' }]],
  ['a folder that moves', [{ op: 'move', from: 'z', to: 'docs' }]],
  ['one that stays as it is', [put('same', 'same'), put('k', 'other')]],
  ['one that comes and goes', [put('tmp', '1'), { op: 'delete', path: 'tmp' }, put('k', 'third')]],
  ['one that is put twice', [put('a', '1'), put('a', '2')]],
  ['one that is put back', [put('a', '3'), put('a', '2'), put('k', '4')]],
  [
    'two that change places',
    [
      { op: 'move', from: 'a', to: 't' },
      { op: 'move', from: 'k', to: 'a' },
      { op: 'move', from: 't', to: 'k' },
    ],
  ],
  ['a mode', [{ op: 'put', path: 'same', content: 'same', mode: '100755' }]],
]

for (const [what, changes] of known)
  it(`knows ${what}`, async () => {
    const { status, body } = await commit(changes)
    assert.equal(status, 200, JSON.stringify(body))
    const { ours, gits } = await said()
    assert.deepEqual(ours, gits)
  })

it(`knows ${COMMITS} commits of random changes`, async (t) => {
  const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31))
  t.diagnostic(`TEST_SEED=${seed}`)
  const random = createRandom(seed)
  const path = () => ['r', 'r/a', 'r/b', 's', 's/a', 's/b/c', 's/b/d'][random.below(7)] as string
  const change = (): Change => {
    if (random.chance(0.6)) return put(path(), String(random.below(3)))
    return random.chance(0.5) ? { op: 'delete', path: path() } : { op: 'move', from: path(), to: path() }
  }
  // Many random changes are refused: nothing is where they would delete, or a folder where they would put.
  for (let made = 0; made < COMMITS; ) {
    const changes = Array.from({ length: 1 + random.below(4) }, change)
    const { status, body } = await commit(changes)
    if (status !== 200 || body.unchanged) continue
    made++
    const { ours, gits } = await said()
    assert.deepEqual(ours, gits, JSON.stringify(changes))
  }
})

it('says that there is more where too many differ', async () => {
  const files = Array.from({ length: 1_200 }, (_, i) => put(`many/${i}`, 'x'))
  assert.equal((await commit(files)).status, 200)
  assert.equal((await commit([{ op: 'delete', path: 'many' }])).status, 200)
  const { payload } = (await host.events(name)).at(-1) ?? assert.fail()
  assert.deepEqual([payload.paths.length, payload.pathsTruncated], [1000, true])
  assert.match(payload.paths[0] ?? '', /^many\//)
})
