// Files and commits that were read before are told from memory, as long as they are what is asked for.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { assertFault, onEachDatabase } from '@trellis/server/testing'
import { useHost } from './harness.ts'

onEachDatabase('what is read again', (create) => {
  const host = useHost(create)

  it('is what is there now, whatever has moved', async () => {
    const name = 'garden'
    await host.repo(name)
    const client = host.client()
    await client.run('init', '-q', '-b', 'main')
    const url = host.remote(name)
    const put = (branch: string, content: string) =>
      host.ok('git/commits/create', {
        name,
        branch,
        message: content,
        changes: [{ op: 'put', path: 'a/b.txt', content }],
      })
    const steps: Record<string, () => Promise<unknown>> = {
      'a first commit': () => put('main', 'one'),
      another: () => put('main', 'two'),
      'a push': async () => {
        await client.run('pull', '-q', url, 'main')
        await client.commit({ 'a/b.txt': 'three' })
        await client.run('push', '-q', url, 'main')
      },
      'a push back': async () => {
        await client.run('reset', '-q', '--hard', 'HEAD~2')
        await client.run('push', '-qf', url, 'main')
      },
      'a tag of the same name, which comes second': async () => {
        const { oid } = await put('other', 'beside')
        await host.ok('git/tags/create', { name, tag: 'main', oid, message: 'One' })
      },
      'a branch that is gone': async () => {
        await host.ok('git/branches/create', { name, branch: 'next', from: 'main' })
        await put('next', 'four')
        await host.ok('repos/update', { name, defaultBranch: 'next' })
        await host.ok('git/branches/delete', { name, branch: 'main' })
      },
      'the tag elsewhere': async () => {
        await client.run('fetch', '-q', url, 'next')
        await client.run('tag', '-f', '-a', '-m', 'Two', 'main', 'FETCH_HEAD')
        await client.run('push', '-qf', url, 'refs/tags/main')
      },
      'the file gone': () =>
        host.ok('git/commits/create', {
          name,
          branch: 'next',
          message: 'Without',
          changes: [{ op: 'delete', path: 'a/b.txt' }],
        }),
    }
    for (const [what, step] of Object.entries(steps)) {
      await step()
      // Twice, so that the second may be told from memory, and both what is asked for by a name and by nothing.
      for (const ref of ['main', undefined, 'main', undefined]) {
        const mirror = await host.clone(name, {}, '--mirror')
        const branch = ref ?? (await host.ok('repos/get', { name })).defaultBranch
        const isBranch = (await mirror.run('branch', '--list', branch)).trim() !== ''
        const revision = `refs/${isBranch ? 'heads' : 'tags'}/${branch}^{commit}`
        const oid = await mirror.rev(revision)
        assert.equal((await host.ok('git/commits/get', { name, ref: branch })).oid, oid, what)
        const listed = await mirror.run('ls-tree', oid, '--', 'a/b.txt')
        const asked = { name, path: 'a/b.txt', ...(ref !== undefined && { ref }) }
        const found = await host.call('git/blobs/get', asked)
        if (listed === '') assertFault(found, 'GIT_OBJECT_NOT_FOUND', { name, object: 'a/b.txt' })
        else assert.equal(found.body.content, await mirror.run('show', `${oid}:a/b.txt`), what)
      }
    }
  })

  it('is told to nobody who may not read it, and not of another repository', async () => {
    const { client } = await host.filled('ours')
    const file = { path: 'file-1.txt' }
    const { oid } = await host.ok('git/blobs/get', { name: 'ours', ...file })
    await host.ok('git/blobs/get', { name: 'ours', oid })
    const commit = await client.rev('main')
    await host.ok('git/commits/get', { name: 'ours', ref: commit })
    await host.repo('empty')
    assertFault(await host.call('git/blobs/get', { name: 'empty', oid }), 'GIT_OBJECT_NOT_FOUND', {
      name: 'empty',
      object: oid,
    })
    assertFault(await host.call('git/commits/get', { name: 'empty', ref: commit }), 'GIT_OBJECT_NOT_FOUND', {
      name: 'empty',
      object: commit,
    })
    const { token } = await host.app.signUp('stranger')
    for (const input of [{ oid }, file])
      assertFault(
        await host.app.call('git/blobs/get', { name: 'ours', ...input }, { token }),
        'REPO_NOT_FOUND',
        { name: 'ours' },
      )
  })
})
