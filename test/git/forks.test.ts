// Forks share what is stored and nothing else; what nobody lists any more is swept away.

import assert from 'node:assert/strict'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertFault, assertForbidden, foundOrg, onEachDatabase } from '@trellis/server/testing'
import { startApp } from '../../packages/server/src/app.ts'
import { parseConfig } from '../../packages/server/src/platform/config.ts'
import { createLog } from '../../packages/server/src/platform/log.ts'
import { createClient, listed, packFiles, until, useHost } from './harness.ts'

onEachDatabase('forks and maintenance', (create) => {
  const host = useHost(create)

  const fork = (name: string, newName: string) => host.ok('repos/fork', { name, newName })

  describe('a fork', () => {
    it('has the refs and the default branch of its parent, and stores nothing new', async () => {
      const { client, url } = await host.filled('parent')
      await host.ok('repos/update', { name: 'parent', defaultBranch: 'side' })
      const before = await packFiles(host.app.data)
      const parent = await host.ok('repos/get', { name: 'parent' })
      const forked = await fork('parent', 'child')
      assert.deepEqual(
        [forked.source, forked.defaultBranch, forked.sizeBytes, forked.lastPushAt],
        [`${host.owner.slug}/parent`, 'side', parent.sizeBytes, null],
      )
      assert.deepEqual(await packFiles(host.app.data), before)
      assert.deepEqual(await host.packs('child'), await host.packs('parent'))
      assert.deepEqual(await listed(client, host.remote('child')), await listed(client, url))
      assert.deepEqual(
        (await host.events('child')).map(({ type }) => type),
        ['repo.created'],
      )
      const told = (await host.events('parent')).at(-1)
      assert.deepEqual([told?.type, told?.subject], ['repo.forked', `${host.owner.slug}/child`])
    })

    it('goes its own way, and so does its parent', async () => {
      const clone = await host.clone('child')
      const mine = await clone.commit({ 'mine.txt': 'm\n' })
      await clone.run('push', '-q', 'origin', 'HEAD:refs/heads/mine')
      assert.equal((await host.refs('parent'))['refs/heads/mine'], undefined)
      const parent = await host.clone('parent')
      await parent.commit({ 'theirs.txt': 't\n' })
      await parent.run('push', '-q', 'origin', 'HEAD:refs/heads/theirs')
      assert.equal((await host.refs('child'))['refs/heads/theirs'], undefined)
      // Not even by its id.
      assert.match(await parent.fails('fetch', 'origin', mine), /not our ref/)
    })

    it('outlives its parent, and a fork of it outlives both', async () => {
      await fork('child', 'grandchild')
      await host.ok('repos/delete', { name: 'parent' })
      const child = await host.clone('child')
      await child.run('fsck', '--full')
      await host.ok('repos/delete', { name: 'child' })
      const grandchild = await host.clone('grandchild')
      await grandchild.run('fsck', '--full')
      await grandchild.commit({ 'more.txt': 'x\n' })
      await grandchild.run('push', '-q', 'origin', 'HEAD')
      await (await host.clone('grandchild')).run('fsck', '--full')
    })

    it('may go to another organization of the caller, and to no other', async () => {
      const org = await foundOrg(host.app, 'forkers')
      const api = host.app.client(org.owner.token)
      await api.repos.create({ name: 'own' })
      const toOrg = { name: 'own', newName: 'shared', toOrg: 'forkers' }
      const { status } = await host.app.call('repos/fork', toOrg, { token: org.owner.token })
      assert.equal(status, 200)
      assertForbidden(await host.call('repos/fork', { ...toOrg, name: 'grandchild' }), 'not_a_member')
      assertFault(await host.call('repos/fork', { name: 'nothing', newName: 'x' }), 'REPO_NOT_FOUND', {
        name: 'nothing',
      })
      assertFault(
        await host.call('repos/fork', { name: 'grandchild', newName: 'grandchild' }),
        'REPO_ALREADY_EXISTS',
        {
          name: 'grandchild',
        },
      )
    })
  })

  describe('maintenance', () => {
    it('folds the packs of many pushes while clones go on, and a fork does not notice', async () => {
      const { client, url } = await host.filled('busy')
      const commits = Array.from(
        { length: 30 },
        (_, i) =>
          `commit refs/heads/main\ncommitter Ann <a@b.c> ${1_800_000_000 + i} +0000\ndata 2\nx\n${i ? '' : 'from refs/heads/main^0\n'}\n`,
      )
      await client.feed(commits.join(''), 'fast-import', '--quiet')
      for (let i = 29; i >= 0; i--) {
        await client.run('push', '-q', url, `main~${i}:refs/heads/main`)
        if (i === 15) await fork('busy', 'calm')
      }
      const calm = (await host.packs('calm')).toSorted()
      let folded = false
      const head = await client.rev('main')
      const cloning = (async () => {
        for (let i = 0; !folded; i++) {
          const clone = await host.clone('busy', {}, ...(i % 2 ? ['--no-tags'] : []))
          assert.equal(await clone.rev('HEAD'), head)
          await sleep(100)
        }
      })()
      try {
        await until('the packs are folded', async () => (await host.packs('busy')).length < 8)
      } finally {
        folded = true
        await cloning
      }
      const clone = await host.clone('busy', { version: 0 })
      await clone.run('fsck', '--full', '--strict')
      assert.equal(await clone.run('rev-list', '--count', 'HEAD'), '40')
      const other = await host.clone('calm')
      await other.run('fsck', '--full')
      assert.ok((await host.packs('calm')).length <= calm.length)
      assert.equal(await other.run('rev-list', '--count', 'HEAD'), '25')
    })
  })

  it('sweeps packs when the last who lists them is gone and some time has passed', async () => {
    const own = host.sandbox.path('swept')
    await using db = await create()
    const HOUR = 3_600_000
    /** Starts a server at another time, has it sweep, and stops it. */
    async function at(
      skew: number,
      work: (
        post: (path: string, input: object) => Promise<void>,
        url: string,
      ) => Promise<void> = async () => {},
    ) {
      const app = await startApp({
        config: parseConfig({
          TRELLIS_LISTEN: '127.0.0.1:0',
          TRELLIS_DATA: own,
          TRELLIS_DATABASE_URL: db.url,
          TRELLIS_DATABASE_POOL: '4',
          TRELLIS_OWNER_KEY: 'a-key-of-the-operator',
        }),
        log: createLog('error', () => {}),
        clock: () => Date.now() + skew,
      })
      const post = async (path: string, input: object) => {
        const response = await fetch(`${app.url}/api/v1/${path}`, {
          method: 'POST',
          headers: { authorization: 'Bearer a-key-of-the-operator', 'content-type': 'application/json' },
          body: JSON.stringify(input),
        })
        assert.equal(response.status, 200, `${path}: ${await response.text()}`)
      }
      try {
        await work(post, app.url)
        await app.background.run('unlisted packs')
      } finally {
        await app.stop()
      }
    }

    await at(0, async (post, url) => {
      await post('repos/create', { name: 'first' })
      const client = createClient(host.sandbox.path('client'), { token: 'a-key-of-the-operator' })
      await client.run('init', '-q')
      await client.commit({ 'a.txt': 'a\n' })
      await client.run('push', '-q', `${url}/git/owner/first.git`, 'main')
      await post('repos/fork', { name: 'first', newName: 'second' })
      await post('repos/fork', { name: 'second', newName: 'third' })
      await post('repos/delete', { name: 'first' })
    })
    const [kept] = await packFiles(own)
    assert.ok(kept)
    // What a crash left: files that the database has never heard of.
    const left = 'f'.repeat(40)
    await mkdir(join(own, 'packs/ff'), { recursive: true })
    for (const part of ['pack', 'idx']) {
      await writeFile(join(own, `packs/ff/${left}.${part}`), 'rest')
      await utimes(join(own, `packs/ff/${left}.${part}`), new Date(), new Date())
    }
    await at(0)
    assert.deepEqual((await packFiles(own)).toSorted(), [kept, `ff/${left}.pack`].toSorted())
    await at(2 * HOUR)
    assert.deepEqual(await packFiles(own), [kept])

    await at(2 * HOUR, (post) => post('repos/delete', { name: 'second' }))
    await at(10 * HOUR)
    await at(20 * HOUR)
    assert.deepEqual(await packFiles(own), [kept])
    await at(20 * HOUR, (post) => post('repos/delete', { name: 'third' }))
    await at(20.2 * HOUR)
    await at(20.5 * HOUR)
    assert.deepEqual(await packFiles(own), [kept])
    await at(22 * HOUR)
    assert.deepEqual(await packFiles(own), [])
  })
})
