import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listed, withSmallHistory } from '../../git/client.ts'
import type { KeptRepo } from '../manifest.ts'
import type { Teller } from './teller.ts'

/** More packs than a repository keeps. */
const PUSHES = 10
const FOLDING_TIMEOUT_MS = 30_000

/** Refs of every kind, forks, an import, and packs that were folded into one. */
export async function tellOfGit(teller: Teller): Promise<void> {
  const { ok, acme, client, remote, told } = teller
  const history = await withSmallHistory(client('history'))
  const push = (org: string, name: string, ...args: string[]) =>
    history.run('push', '-q', remote(org, name), ...args)
  await history.run('tag', 'light', 'main~3')
  await history.run('notes', 'add', '-m', 'a note', 'main')
  await push('acme', 'hello', 'main', 'side', 'v1', 'light', 'refs/notes/commits', 'side:refs/heads/größe')
  await push('acme', 'renamed', 'main:trunk')
  await push('acme', 'locked', 'main')
  await push('frost', 'ice', 'main')
  await history.commit({ 'alone.txt': 'in no other repository\n' })
  await push('acme', 'deleted', 'HEAD:main')
  for (let i = 1; i <= PUSHES; i++) {
    await history.commit({ 'many.txt': randomBytes(300).toString('base64') }, `number ${i}`)
    await push('acme', 'many', 'HEAD:main')
  }

  await ok('repos/fork', { name: 'hello', newName: 'fork' }, acme())
  await ok('repos/fork', { name: 'hello', newName: 'away', toOrg: 'ann' }, acme())
  await push('acme', 'fork', '-f', 'light~4:side')
  const credentials = { username: 'x', password: told.credentials.ann }
  await ok('repos/import', { name: 'imported', url: remote('acme', 'renamed'), credentials }, acme())
  await changeThroughOperations(teller)
  await untilFolded(teller)
}

async function changeThroughOperations({ ok, acme }: Teller): Promise<void> {
  const hello = (operation: string, input: object) =>
    ok(`git/${operation}`, { name: 'hello', ...input }, acme())
  const commit = (branch: string, path: string) =>
    hello('commits/create', {
      branch,
      message: `Add ${path}`,
      changes: [{ op: 'put', path, content: `${path}\n` }],
    })
  const { oid } = await commit('main', 'made.txt')
  await hello('branches/create', { branch: 'topic' })
  await commit('topic', 'topic.txt')
  await commit('main', 'beside.txt')
  await hello('merge', { branch: 'main', from: 'topic', strategy: 'merge' })
  await commit('topic', 'lost.txt')
  await hello('branches/delete', { branch: 'topic' })
  await hello('tags/create', { tag: 'v2', oid, message: 'second' })
}

/** A repository that has gone through this may be said to have a size that it no longer has. */
async function untilFolded({ server }: Teller): Promise<void> {
  const end = Date.now() + FOLDING_TIMEOUT_MS
  while ((await server.packsOf('many')) >= PUSHES) {
    assert.ok(Date.now() < end, 'packs were not folded in time')
    await sleep(250)
  }
}

export async function listRepos({ ok, acme, client, remote }: Teller): Promise<KeptRepo[]> {
  const lister = client('lister')
  const kept: KeptRepo[] = []
  for (const org of ['acme', 'frost', 'ann']) {
    const { items } = await ok('repos/list', {}, { ...acme(), org })
    for (const { name } of items) kept.push({ org, name, refs: await listed(lister, remote(org, name)) })
  }
  return kept
}
