// Quotas hold for many who come at once, and what is refused is gone at once.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { onEachDatabase } from '@trellis/server/testing'
import { packFiles, useHost } from './harness.ts'

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
    for (const { stderr } of refused) assert.match(stderr, /[Qq]uota exceeded|larger than \d+ bytes/)
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
