// Organizations on a server that is a process of its own, each with a repository of extensions that was pushed to it.

import assert from 'node:assert/strict'
import type { Run } from '@trellis/contract'
import type { Json } from '../../packages/server/src/testing/json.ts'
import { createClient, type Sandbox, type ServerProcess } from '../git/harness.ts'

export interface Keeper {
  ok(path: string, input: object): Promise<Json>
  /** Asks for a run, and gives its id. */
  dispatch(extension: string, input?: object): Promise<string>
  /** Waits until it has ended, however long its limit lets it. */
  ended(id: string): Promise<Run>
  /** All that is told of a run that has ended. */
  tail(id: string): Promise<string>
  /** The commit that was pushed. */
  oid: string
}

const REPO = 'zoo'

/** Somebody new, with an organization and a repository of these files, pushed with git and promoted. */
export async function openKeeper(
  server: ServerProcess,
  sandbox: Sandbox,
  { name, files }: { name: string; files: Record<string, string> },
): Promise<Keeper> {
  const signedUp = await fetch(`${server.url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@example.com`, name, password: 'correct horse battery' }),
  })
  const { token } = (await signedUp.json()) as { token: string }
  const post = async (path: string, input: object) => {
    const response = await fetch(`${server.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(input),
    })
    return { status: response.status, text: await response.text() }
  }
  const ok: Keeper['ok'] = async (path, input) => {
    const { status, text } = await post(path, input)
    assert.equal(status, 200, `${path}: ${text.slice(0, 1_000)}`)
    return JSON.parse(text)
  }
  const { remote } = await ok('repos/create', { name: REPO })
  const client = createClient(sandbox.path(name), { token })
  await client.run('init', '-q')
  const oid = await client.commit(files)
  await client.run('push', '-q', remote, 'main')
  await ok('secrets/set', { name: REPO, secret: 'TOKEN', value: 'a secret that is long enough' })
  // On a machine that is busy, builds may be late.
  while ((await post('extensions/promote', { name: REPO })).text.includes('The build took longer'));
  await ok('extensions/promote', { name: REPO })
  return {
    ok,
    oid,
    tail: async (id) =>
      (
        await fetch(`${server.url}/api/v1/runs/${id}/tail`, { headers: { authorization: `Bearer ${token}` } })
      ).text(),
    dispatch: async (extension, input = {}) =>
      (await ok('runs/dispatch', { name: REPO, extension, input })).run.id,
    async ended(id) {
      for (let waits = 0; waits < 4; waits++) {
        const { run } = await ok('runs/get', { id, waitMs: 30_000 })
        if (run.endedAt !== null) return run
      }
      throw new Error(`${id} does not end`)
    },
  }
}
