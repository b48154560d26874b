// What no ref leads to any more goes: after a while by itself, at once when somebody asks. Nothing else does.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { assertFault, assertForbidden, onEachDatabase } from '@trellis/server/testing'
import { type Client, until, useHost } from './harness.ts'

const HOUR = 3_600_000

onEachDatabase('what no ref leads to', (create) => {
  const host = useHost(create, { TRELLIS_UNREACHABLE_HOURS: '24' })
  const noise = (bytes: number) => randomBytes(bytes / 2).toString('hex')

  const prune = () => host.app.background.run('pruning')
  const sizeOf = async (name: string): Promise<number> => (await host.ok('repos/get', { name })).sizeBytes
  /** The commit, and a file in it. */
  async function isThere(name: string, oid: string): Promise<boolean> {
    const commit = await host.call('git/commits/get', { name, ref: oid })
    const file = await host.call('git/blobs/get', { name, ref: oid, path: 'large.txt' })
    assert.equal(commit.status, file.status)
    return commit.status === 200
  }

  /** A repository with a branch `large` beside `main`, and where it is. */
  async function withLargeBranch(name: string): Promise<{ client: Client; url: string; large: string }> {
    const { client, url } = await host.filled(name)
    await client.run('switch', '-qc', 'large')
    const large = await client.commit({ 'large.txt': noise(400_000) })
    await client.run('push', '-q', url, 'large')
    return { client, url, large }
  }

  async function assertWhole(name: string): Promise<void> {
    const clone = await host.clone(name, {}, '--mirror')
    await clone.run('fsck', '--full', '--strict')
    assert.deepEqual(
      (await clone.run('for-each-ref', '--format=%(refname) %(objectname)')).split('\n').filter(Boolean),
      Object.entries(await host.refs(name)).map(([ref, oid]) => `${ref} ${oid}`),
    )
  }

  it('can be had back for a while, then it is gone and has freed its space', async () => {
    const { url, client, large } = await withLargeBranch('deleted')
    const before = await sizeOf('deleted')
    await client.run('push', '-q', url, ':large')
    host.app.pass(23 * HOUR)
    await prune()
    assert.equal(await sizeOf('deleted'), before)

    await host.ok('git/branches/create', { name: 'deleted', branch: 'back', from: large })
    await host.ok('git/branches/delete', { name: 'deleted', branch: 'back' })
    // It was left anew: the time begins again.
    host.app.pass(23 * HOUR)
    await prune()
    assert.ok(await isThere('deleted', large))

    host.app.pass(2 * HOUR)
    await prune()
    const after = await sizeOf('deleted')
    assert.ok(after < before - 100_000, `${before} bytes became ${after}`)
    assert.ok(!(await isThere('deleted', large)))
    await assertWhole('deleted')
    const [event] = (await host.events('deleted')).filter(({ type }) => type === 'repo.purged')
    assert.deepEqual(event?.payload, { freedBytes: before - after, sizeBytes: after })
    await prune()
    assert.equal(await sizeOf('deleted'), after)
  })

  it('goes at once when the repository is purged, for those who administrate it', async () => {
    const { url, client, large } = await withLargeBranch('purged')
    await client.run('push', '-qf', url, 'main:large')
    const before = await sizeOf('purged')
    assert.ok(await isThere('purged', large))
    const { token } = await host.app.signUp('outsider')
    assertFault(await host.app.call('repos/purge', { name: 'purged' }, { token }), 'REPO_NOT_FOUND', {
      name: 'purged',
    })
    const writer = await host.ok('tokens/create', { name: 'purged', scope: 'write' })
    assertForbidden(
      await host.app.call('repos/purge', { name: 'purged' }, { token: writer.secret }),
      'scope_missing',
    )

    const sizes = await host.ok('repos/purge', { name: 'purged' })
    assert.deepEqual(sizes, { freedBytes: before - sizes.sizeBytes, sizeBytes: await sizeOf('purged') })
    assert.ok(sizes.freedBytes > 100_000)
    assert.ok(!(await isThere('purged', large)))
    assert.match(
      await (await host.clone('purged')).fails('fetch', url, large),
      /not our ref|remote error|upload-pack/,
    )
    await assertWhole('purged')
    assert.deepEqual(await host.ok('repos/purge', { name: 'purged' }), { ...sizes, freedBytes: 0 })

    // Life goes on: from a clone that still has what is gone here.
    await client.run('push', '-q', url, '+large')
    await assertWhole('purged')
  })

  it('is all there was, once the last ref is deleted', async () => {
    await host.filled('emptied')
    for (const ref of Object.keys(await host.refs('emptied')))
      await host.ok('git/refs/update', { name: 'emptied', ref, oid: null })
    assert.equal((await host.ok('repos/purge', { name: 'emptied' })).sizeBytes, 0)
    assert.deepEqual(await host.packs('emptied'), [])
    await assertWhole('emptied')
  })

  it('is taken from nobody who is just about to point a ref to it', async () => {
    const { url, client, large } = await withLargeBranch('raced')
    for (let round = 0; round < 5; round++) {
      await client.run('push', '-q', url, ':large')
      const wants = host.call('git/refs/update', { name: 'raced', ref: 'refs/heads/large', oid: large })
      const [purged, updated] = await Promise.all([host.call('repos/purge', { name: 'raced' }), wants])
      assert.equal(purged.status, 200)
      if (updated.status !== 200)
        assertFault(updated, 'GIT_OBJECT_NOT_FOUND', { name: 'raced', object: large })
      await assertWhole('raced')
      if (updated.status !== 200) await client.run('push', '-q', url, 'large')
    }
  })

  it('may go while a push is looked at, which is then refused with a reason', async () => {
    const { url, client } = await withLargeBranch('overtaken')
    // So much that git has to look at it, and takes a while.
    await client.commit({ 'more.txt': noise(3_000_000) })
    const id = await host.repoId('overtaken')
    let isPushing = true
    const pushing = client.attempt('push', url, 'large').finally(() => {
      isPushing = false
    })
    while (isPushing) {
      // As a pruning ends.
      await host.app.database.transact((tx) =>
        tx
          .updateTable('repos')
          .set((eb) => ({ prunes: eb('prunes', '+', 1) }))
          .where('id', '=', id)
          .execute(),
      )
      await setImmediate()
    }
    const { code, stderr } = await pushing
    assert.notEqual(code, 0)
    assert.match(stderr, /unreachable objects have just been removed from the repository: try again/)
    await client.run('push', '-q', url, 'large')
    await assertWhole('overtaken')
  })

  it('is not in a fork that belongs to another organization', async () => {
    const { url, client, large } = await withLargeBranch('parent')
    const other = await host.ok('orgs/create', {
      slug: `other-${randomBytes(4).toString('hex')}`,
      name: 'Other',
    })
    const fork = async (newName: string, toOrg?: string) =>
      host.ok('repos/fork', { name: 'parent', newName, ...(toOrg && { toOrg }) })
    const elsewhere = { org: other.slug }
    const inFork = (name: string, oid: string) =>
      host.call('git/commits/get', { name, ref: oid }, elsewhere).then(({ status }) => status === 200)

    // All of it is reachable, and shared.
    const whole = await fork('whole', other.slug)
    assert.equal(whole.sizeBytes, await sizeOf('parent'))
    assert.ok(await inFork('whole', large))

    await client.run('push', '-q', url, ':large')
    await fork('beside')
    assert.ok(await isThere('beside', large))
    const part = await fork('part', other.slug)
    assert.ok(part.sizeBytes < whole.sizeBytes - 100_000)
    assert.ok(!(await inFork('part', large)))
    const main = (await host.refs('parent'))['refs/heads/main'] ?? ''
    assert.ok(await inFork('part', main))
    const clone = host.client()
    await clone.run('clone', '-q', '--mirror', `${host.app.url}/git/${other.slug}/part.git`, '.')
    await clone.run('fsck', '--full', '--strict')

    // What is purged in one is still in the others.
    await host.ok('repos/purge', { name: 'parent' })
    assert.ok(await inFork('whole', large))
    assert.ok(await isThere('beside', large))
    await until('packs are listed by somebody', async () => (await host.packs('beside')).length > 0)
  })
})
