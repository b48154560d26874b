import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createPlaces } from '../../platform/places.ts'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import { DELIM_PACKET } from '../../testing/packets.ts'
import type { Oid } from '../names.ts'
import { createGit, GitError, openRepo } from '../process/command.ts'
import { dataPacket, FLUSH_PACKET, ProtocolError } from '../protocol/pkt-line.ts'
import { type FetchRequest, readUploadRequest } from '../protocol/upload-request.ts'
import { cloneKey, runUploadPack } from './upload-pack.ts'

let repo: TestRepo
let tip: Oid
before(() => {
  repo = createTestRepo()
  tip = repo.commit({ 'a.txt': 'a', 'big.bin': randomBytes(6_000_000).toString('base64') })
  repo.git(['update-ref', 'refs/heads/main', tip])
})
after(() => repo[Symbol.dispose]())

async function fetchOf(...args: string[]): Promise<FetchRequest> {
  const lines = args.map((line) => dataPacket(`${line}\n`))
  const body = Buffer.concat([dataPacket('command=fetch\n'), DELIM_PACKET, ...lines, FLUSH_PACKET])
  const request = await readUploadRequest(streamOf(body), { version: 2 })
  assert.equal(request.kind, 'fetch')
  return request as FetchRequest
}

async function* streamOf(bytes: Uint8Array) {
  yield bytes
}

const oid = 'a'.repeat(40)

test('the key changes with the tags only when the clone follows tags', async () => {
  const plain = (await fetchOf(`want ${oid}`, 'done')).clone
  const following = (await fetchOf(`want ${oid}`, 'include-tag', 'done')).clone
  assert.ok(plain && following)
  const key = (clone: typeof plain, id: string, tagsVersion: string) => cloneKey(clone, { id, tagsVersion })
  assert.equal(key(plain, 'r', '1'), key(plain, 'r', '2'))
  assert.notEqual(key(following, 'r', '1'), key(following, 'r', '2'))
  assert.notEqual(key(plain, 'r', '1'), key(plain, 's', '1'))
})

test('what git refuses becomes a ProtocolError before the first byte', async () => {
  const unknown = runUploadPack(repo.repo, await fetchOf(`want ${oid}`, 'done'))
  await assert.rejects(
    unknown.next(),
    (error) => error instanceof ProtocolError && /not our ref a+/.test(error.message),
  )
  const nonsense = runUploadPack(repo.repo, await fetchOf(`want ${tip}`, 'filter nonsense', 'done'))
  await assert.rejects(nonsense.next(), ProtocolError)
})

test('a client that leaves takes its process with it', async () => {
  const pool = createPlaces({ size: 2 })
  const abort = new AbortController()
  const git = createGit({ pool })
  const request = await fetchOf(`want ${tip}`, 'done')
  const aborted = runUploadPack(openRepo(git, repo.gitDir, { signal: abort.signal }), request)
  await aborted.next()
  assert.equal(pool.running, 1)
  abort.abort(new Error('the client left'))
  await assert.rejects(Array.fromAsync(aborted), /the client left/)
  assert.equal(pool.running, 0)

  const left = runUploadPack(openRepo(git, repo.gitDir), request)
  await left.next()
  await left.return()
  assert.equal(pool.running, 0)
})

test('a git that dies is no whole answer', async () => {
  const dying = openRepo(createGit({ binary: '/nonexistent/git' }), repo.gitDir)
  await assert.rejects(runUploadPack(dying, await fetchOf(`want ${tip}`, 'done')).next(), GitError)
})
