import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { insertRefs } from '../code/ref-store.ts'
import type { Oid, RefName } from '../git/names.ts'
import { foundOrg, onEachDatabase, type TestOrg, useApp } from '../testing/index.ts'
import { markDeleted } from './store.ts'

const REFS = 15_000

onEachDatabase('deleting a repository', (create) => {
  const app = useApp(create)
  let acme: TestOrg

  before(async () => {
    acme = await foundOrg(app, 'acme')
  })

  const client = () => app.client(acme.owner.token, 'acme')
  const idOf = async (name: string) =>
    (
      await app.database.db
        .selectFrom('repos')
        .select('id')
        .where('name', '=', name)
        .executeTakeFirstOrThrow()
    ).id
  const count = async (table: 'git_refs' | 'repo_tokens' | 'repos', id: string) =>
    (
      await app.database.db
        .selectFrom(table)
        .select(table === 'repos' ? 'id' : 'repo_id')
        .where(table === 'repos' ? 'id' : 'repo_id', '=', id)
        .execute()
    ).length
  async function filled(name: string): Promise<{ id: string; secret: string }> {
    await client().repos.create({ name })
    const id = await idOf(name)
    const { secret } = await client().tokens.create({ name })
    const refs = Array.from({ length: REFS }, (_, i) => ({
      name: `refs/heads/b${i}` as RefName,
      oid: 'a'.repeat(40) as Oid,
      peeled: null,
    }))
    await app.database.transact((tx) => insertRefs(tx, id, refs))
    return { id, secret }
  }

  it('removes what belongs to it in pieces, between which others are served', async () => {
    const { id, secret } = await filled('large')
    await client().repos.create({ name: 'other' })
    let isDone = false
    let served = 0
    const deleting = client()
      .repos.delete({ name: 'large' })
      .finally(() => {
        isDone = true
      })
    while (!isDone) {
      await client().repos.update({ name: 'other', readOnly: false })
      served++
    }
    assert.deepEqual(await deleting, { deleted: true })
    assert.ok(served > 1, `${served} others were served meanwhile`)
    for (const table of ['git_refs', 'repo_tokens', 'repos'] as const) assert.equal(await count(table, id), 0)
    assert.equal((await app.call('repos/list', {}, { token: secret })).status, 401)
  })

  it('makes it invisible and its name free at once, and is finished after a crash', async () => {
    const { id, secret } = await filled('marked')
    const before = (await client().orgs.get({ orgSlug: 'acme' })).repoCount
    // As far as a process came that died then.
    await app.database.transact((tx) => markDeleted(tx, id))
    assert.equal((await app.call('repos/get', { name: 'marked' }, acme.as(acme.owner))).status, 404)
    const { items } = await client().repos.list({ limit: 100 })
    assert.ok(!items.some(({ name }) => name.includes(id) || name === 'marked'))
    assert.equal((await app.call('repos/list', {}, { token: secret })).status, 401)
    await client().repos.create({ name: 'marked' })

    await app.expire()
    for (const table of ['git_refs', 'repo_tokens', 'repos'] as const) assert.equal(await count(table, id), 0)
    assert.equal((await client().orgs.get({ orgSlug: 'acme' })).repoCount, before)
    assert.equal((await client().repos.get({ name: 'marked' })).name, 'marked')
  })
})
