import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { Repo } from '@trellis/contract'
import { assertInvalid, foundOrg, onEachDatabase, type TestOrg, useApp } from '../testing/index.ts'
import { plansOf } from '../testing/plans.ts'
import * as store from './store.ts'

const MANY = 2_500

onEachDatabase('repos/search', (create) => {
  const app = useApp(create)
  let acme: TestOrg
  before(async () => {
    acme = await foundOrg(app, 'acme')
    const { repos } = app.client(acme.owner.token, 'acme')
    for (const name of ['web', 'web-admin', 'api', 'old-web', 'the-web-app']) await repos.create({ name })
    await repos.delete({ name: 'old-web' })
    await repos.create({ name: 'z-web' })
    const row = await app.database.db
      .selectFrom('repos')
      .selectAll()
      .where('name', '=', 'api')
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: MANY }, (_, i) => ({
      ...row,
      id: `repo_many${i}`,
      artifact_id: `art_many${i}`,
      name: `many-${String(i).padStart(5, '0')}`,
    }))
    for (let i = 0; i < MANY; i += 50)
      await app.database.db
        .insertInto('repos')
        .values(rows.slice(i, i + 50))
        .execute()
  })

  const search = async (input: object, token = acme.member.token) => {
    const { status, body } = await app.call('repos/search', input, { token, org: 'acme' })
    assert.equal(status, 200, JSON.stringify(body))
    return body as { items: Repo[]; nextCursor: string | null }
  }
  const names = ({ items }: { items: Repo[] }) => items.map(({ name }) => name)

  it('finds those that begin so first, then those that have it elsewhere', async () => {
    const found = await search({ query: ' WEB ' })
    assert.deepEqual(names(found), ['web', 'web-admin', 'the-web-app', 'z-web'])
    assert.equal(found.nextCursor, null)
    const { body } = await app.call('repos/get', { name: 'web' }, { token: acme.member.token, org: 'acme' })
    assert.deepEqual(found.items[0], body)
    assert.deepEqual(names(await search({ query: 'nothing-like-it' })), [])
    for (const query of ['%', '_e_', "'", 'ö', '\ud800']) assert.deepEqual(names(await search({ query })), [])
    assertInvalid(await app.call('repos/search', { query: 'we\0b' }, { token: acme.member.token }), ['query'])
  })

  it('has pages', async () => {
    const all = async (query: string, limit: number) => {
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Awaited<ReturnType<typeof search>> = await search({ query, limit, cursor })
        assert.ok(page.items.length <= limit)
        seen.push(...names(page))
        cursor = page.nextCursor
      }
      return seen
    }
    assert.deepEqual(await all('web', 1), ['web', 'web-admin', 'the-web-app', 'z-web'])
    assert.deepEqual(await all('web', 3), ['web', 'web-admin', 'the-web-app', 'z-web'])
    assert.equal((await all('many-', 100)).length, MANY)
    const nines = await all('99', 7)
    assert.deepEqual(
      nines,
      Array.from({ length: MANY }, (_, i) => `many-${String(i).padStart(5, '0')}`).filter((name) =>
        name.includes('99'),
      ),
    )
  })

  it('shows nobody what is not theirs', async () => {
    const stray = await app.signUp('stray')
    const { body } = await app.call('repos/search', { query: 'web' }, { token: stray.token })
    assert.deepEqual(body.items, [])
    const { secret: token } = await app.client(acme.owner.token, 'acme').tokens.create({ name: 'web-admin' })
    assert.deepEqual(names(await search({ query: 'web' }, token)), ['web-admin'])
    assert.deepEqual(names(await search({ query: 'api' }, token)), [])
  })

  it('reads names from an index alone', async () => {
    const plans = await plansOf(app.database, async (db) => {
      const page = { orgId: 'x', after: '', limit: 10 }
      await store.listNamesAfter(db, page)
      await store.listBeginning(db, { ...page, now: 0, prefix: 'a', end: 'a~' })
    })
    for (const plan of plans) assert.match(plan, /index/i)
  })
})
