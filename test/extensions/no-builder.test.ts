// A server that cannot start the process that builds: it says so, and everything else goes on.

import assert from 'node:assert/strict'
import { copyFile, link, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ownerKeyIn, startServer, withDataDirectory } from '../server-process.ts'

describe('without a process that builds', () => {
  it('nothing is promoted, and it is said why', { timeout: 300_000 }, () =>
    withDataDirectory(async (data) => {
      // The server runs on, and what it would start is not there any more.
      const node = join(data, 'node')
      await link(process.execPath, node).catch(() => copyFile(process.execPath, node))
      const server = await startServer(data, {}, { node })
      await rm(node)
      const { repos, git, extensions } = server.client(await ownerKeyIn(data))
      const name = 'tools'
      await repos.create({ name })
      const put = (path: string, content: string) => ({ op: 'put' as const, path, content })
      await git.commits.create({
        name,
        branch: 'main',
        message: 'Declare',
        changes: [
          put('extensions/e/extension.json', '{"version": 1, "name": "e"}'),
          put('extensions/e/index.ts', 'export default () => 1\n'),
        ],
      })
      const unavailable = { code: 'EXTENSION_BUILD_UNAVAILABLE', status: 503, data: { name } }
      for (const dryRun of [true, false])
        await assert.rejects(extensions.promote({ name, dryRun }), unavailable)
      await assert.rejects(extensions.list({ name }), unavailable)
      const { items } = await git.refs.list({ name })
      assert.deepEqual(
        items.map((ref) => ref.name),
        ['main'],
      )
      await server.stop()
    }),
  )
})
