// Quotas hold for many who come at once, and what is refused is gone at once.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { it } from 'node:test'
import { onEachDatabase } from '@trellis/server/testing'
import { FLUSH, packFiles, pkt, until, useHost, ZERO } from './harness.ts'

const LIMIT = 400_000

onEachDatabase('room', (create) => {
  const host = useHost(create, { TRELLIS_ORG_MAX_BYTES: String(LIMIT) })

  const noise = () => randomBytes(60_000).toString('base64')
  const storedBytes = async () => {
    const { size_bytes } = await host.app.database.db
      .selectFrom('orgs')
      .innerJoin('repos', 'repos.org_id', 'orgs.id')
      .select('orgs.size_bytes')
      .limit(1)
      .executeTakeFirstOrThrow()
    return Number(size_bytes)
  }
  const listedPacks = async () =>
    (await host.app.database.db.selectFrom('repo_packs').select('pack_id').execute()).map(
      ({ pack_id }) => pack_id,
    )

  it('is taken by as many pushes and commits at once as there is room for, and the others leave nothing', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `r${i}`)
    const pushes = await Promise.all(
      names.map(async (name) => {
        const url = await host.repo(name)
        const client = host.client({ token: host.owner.token })
        await client.run('init', '-q')
        await client.commit({ 'a.bin': noise() })
        return () => client.attempt('push', url, 'main')
      }),
    )
    const commits = names.map(
      (name) => () =>
        host.call('git/commits/create', {
          name,
          branch: 'made',
          message: 'm',
          changes: [{ op: 'put', path: 'b', content: noise() }],
        }),
    )
    const [pushed, made] = await Promise.all([
      Promise.all(pushes.map((push) => push())),
      Promise.all(commits.map((commit) => commit())),
    ])
    const refused = pushed.filter(({ code }) => code !== 0)
    // Which of them depends on what the others have come to.
    for (const { stderr } of refused)
      assert.match(stderr, /[Qq]uota exceeded|larger than \d+ bytes|there is no room left/)
    const without = made.filter(({ status }) => status !== 200)
    for (const { body } of without) assert.equal(body.code, 'QUOTA_EXCEEDED')
    assert.ok(refused.length + without.length > 0, 'some were refused')
    assert.ok(refused.length + without.length < 12, 'some were taken')
    const bytes = await storedBytes()
    assert.ok(bytes <= LIMIT && bytes > LIMIT / 4, `${bytes} bytes`)
    // Every file belongs to a pack that is listed.
    const listed = await listedPacks()
    const files = await packFiles(host.app.data)
    assert.deepEqual(
      files.filter((file) => !listed.some((id) => file.includes(id))),
      [],
    )
  })

  it('is not taken by what a rule refuses', async () => {
    const url = await host.repo('ruled')
    await host.ok('rules/set', { name: 'ruled', pattern: '**', refuse: { create: {} } })
    const client = host.client({ token: host.owner.token })
    await client.run('init', '-q')
    await client.commit({ 'a.txt': 'a\n' })
    const before = await packFiles(host.app.data)
    assert.match(await client.fails('push', url, 'main'), /creating this ref is refused/)
    assert.deepEqual(await packFiles(host.app.data), before)
  })
})

onEachDatabase('room that is set aside', (create) => {
  const host = useHost(create, { TRELLIS_ORG_MAX_BYTES: String(4_000_000) })

  async function bytesBelow(dir: string): Promise<number> {
    const names = await readdir(dir, { recursive: true }).catch(() => [])
    const sizes = names.map((name) => stat(join(dir, name)).then(({ size }) => size))
    return (await Promise.allSettled(sizes)).reduce(
      (sum, size) => sum + (size.status === 'fulfilled' ? size.value : 0),
      0,
    )
  }

  /** Begins a push and sends so much of its pack, but not the rest. */
  async function beginPush(name: string, bytes: number): Promise<() => void> {
    const pushing = request(`${host.remote(name)}/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${host.owner.token}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
    })
    pushing.on('error', () => {})
    pushing.write(pkt(`${ZERO} ${'1'.repeat(40)} refs/heads/a\0 report-status`))
    pushing.write(FLUSH)
    pushing.write(randomBytes(bytes))
    return () => pushing.destroy()
  }

  it('counts what is on its way, however many push at once', async () => {
    const url = await host.repo('wanted')
    await host.repo('held')
    const client = host.client()
    await client.run('init', '-q')
    await client.commit({ 'a.bin': randomBytes(1_500_000).toString('base64') })
    const scratch = join(host.app.data, 'scratch')
    const endings = [await beginPush('held', 1_900_000), await beginPush('held', 1_900_000)]
    await until('two pushes are on their way', async () => (await bytesBelow(scratch)) >= 3_800_000)
    assert.match(await client.fails('push', url, 'main'), /with what else is being pushed there is no room/)
    for (const end of endings) end()
    await until('they are gone', async () => (await client.attempt('push', url, 'main')).code === 0)
  })

  it('bounds what a few bytes ask to be stored', async () => {
    const clone = await host.clone('wanted')
    // Sent as a difference; stored with what it is different from.
    await clone.run('config', 'core.bigFileThreshold', '100m')
    const file = await clone.run('show', 'HEAD:a.bin')
    await clone.commit({ 'b.bin': randomBytes(1_000_000).toString('base64') })
    await clone.run('push', '-q', host.remote('wanted'), 'main')
    await clone.commit({ 'a.bin': `${file}\n` })
    const before = await packFiles(host.app.data)
    const said = await clone.fails('push', host.remote('wanted'), 'main')
    assert.match(said, /takes more time, memory or room than is allowed here/)
    assert.deepEqual(await packFiles(host.app.data), before)
  })
})
