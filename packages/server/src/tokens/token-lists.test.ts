import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import * as invites from '../invites/store.ts'
import type { Schema } from '../schema.ts'
import { assertFault, onEachDatabase, type Person, plansOf, useApp } from '../testing/index.ts'
import * as tokens from './store.ts'

const DAY_MS = 86_400_000
const LIVE = 1_200
const ENDED = 1_100
/** Rows of one insert: there is a bound on what a statement may carry. */
const TOGETHER = 100

onEachDatabase('lists of what works and what has ended', (create) => {
  const app = useApp(create, {
    TRELLIS_REPO_MAX_TOKENS: String(LIVE + 2),
    TRELLIS_CALLER_MAX_INVITES: String(LIVE + 1),
  })
  let ada: Person
  let repo: { id: string; org_id: string }

  before(async () => {
    ada = await app.signUp('ada')
    await client().repos.create({ name: 'many' })
    repo = await app.database.db
      .selectFrom('repos')
      .select(['id', 'org_id'])
      .where('name', '=', 'many')
      .executeTakeFirstOrThrow()
  })
  const client = () => app.client(ada.token)

  /** When each was made, ends and was revoked: some that work, some that ended in both ways, some long ago. */
  function times() {
    const now = app.now()
    const live = range(LIVE).map((n) => ({
      id: `live-${n}`,
      created_at: now - n,
      expires_at: now + DAY_MS,
      revoked_at: null as number | null,
    }))
    const ended = range(ENDED).map((n) => {
      const at = now - (n + 1) * 60_000
      const revoked_at = n % 2 === 0 ? at : null
      return {
        id: `ended-${n}`,
        created_at: at - DAY_MS,
        expires_at: revoked_at ? now + DAY_MS : at,
        revoked_at,
      }
    })
    const old = range(10).map((n) => ({
      id: `old-${n}`,
      created_at: now - 90 * DAY_MS,
      expires_at: n % 2 === 0 ? now - 31 * DAY_MS : now + DAY_MS,
      revoked_at: n % 2 === 0 ? null : now - 31 * DAY_MS,
    }))
    return [...live, ...ended, ...old]
  }

  const assertComplete = (ids: string[]) => {
    assert.equal(ids.filter((id) => id.startsWith('live-')).length, LIVE)
    assert.deepEqual(
      ids.filter((id) => id.startsWith('ended-')).map((id) => Number(id.slice('ended-'.length))),
      range(1000),
    )
    assert.ok(!ids.some((id) => id.startsWith('old-')))
    assert.equal(ids.indexOf('live-0') < ids.indexOf('live-1199'), true)
  }

  it('are found and counted by indexes, whatever there was before', async () => {
    // PostgreSQL goes by what it knows of the tables, and these are small.
    if (app.database.dialect !== 'sqlite') return
    const page = { after: 1, now: 2, limit: 10 }
    const made = { creatorId: 'x' }
    const plans = await plansOf<Schema>(app.database, (db) =>
      Promise.all([
        tokens.listLive(db, 'x', 1),
        tokens.countLive(db, 'x', 1, 10),
        tokens.listEnded(db, 'x', page),
        invites.listUnended(db, made, 1),
        invites.countUnended(db, 'x', 1, 10),
        invites.listEnded(db, made, page),
      ]),
    )
    for (const plan of plans) assert.match(plan, /INDEX (repo_tokens|invites)_(un)?revoked/)
    assert.ok(plans.filter((plan) => plan.includes('COVERING INDEX')).length >= 2)
    assert.ok(!plans.some((plan) => plan.includes('TEMP B-TREE')))
  })

  it('hold every token that works, and the latest thousand that ended in the last 30 days', async () => {
    const rows = times().map((row) => ({
      ...row,
      repo_id: repo.id,
      store_token_id: `atk-${row.id}`,
      prefix: 'trt_',
      secret_hash: `hash ${row.id}`,
      scope: 'read' as const,
      refs: null,
      op: 'api',
      actor_kind: 'user' as const,
      actor_id: ada.userId,
    }))
    for (const some of inBatches(rows)) await app.database.db.insertInto('repo_tokens').values(some).execute()
    assertComplete((await client().tokens.list({ name: 'many' })).items.map(({ id }) => id))
  })

  it('are bounded: a repository has so many tokens at a time, those of invites among them', async () => {
    await client().tokens.create({ name: 'many' })
    const invite = await client().invites.create({ name: 'many' })
    assert.equal((await app.call('invites/reveal', { id: invite.id })).status, 200)
    const full = ['QUOTA_EXCEEDED', { scope: 'org', limit: LIVE + 2, projected: LIVE + 3 }] as const
    assertFault(await app.call('tokens/create', { name: 'many' }, { token: ada.token }), ...full)
    assertFault(await app.call('invites/reveal', { id: invite.id }), ...full)
    // Another of the person's repositories is another matter.
    await client().repos.create({ name: 'other' })
    const { id } = await client().tokens.create({ name: 'other' })
    await client().tokens.revoke({ name: 'other', id })
    await client().invites.revoke({ managementId: invite.managementId })
  })

  it('hold every invite that works, and the latest thousand that ended in the last 30 days', async () => {
    const rows = times().map((row) => ({
      ...row,
      secret_hash: `hash ${row.id}`,
      secret_prefix: 'prefix',
      management_hash: `management ${row.id}`,
      repo_id: repo.id,
      org_id: repo.org_id,
      creator_id: ada.userId,
      scope: 'read' as const,
      grant_ttl_seconds: 60,
      max_reveals: null,
      reveal_count: 0,
    }))
    await app.database.db.deleteFrom('invites').execute()
    for (const some of inBatches(rows)) await app.database.db.insertInto('invites').values(some).execute()
    assertComplete((await client().invites.listAnonymous()).items.map(({ id }) => id))

    await client().invites.create({ name: 'other' })
    assertFault(await app.call('invites/create', { name: 'other' }, { token: ada.token }), 'QUOTA_EXCEEDED', {
      scope: 'org',
      limit: LIVE + 1,
      observed: LIVE + 1,
    })
  })
})

const range = (length: number) => Array.from({ length }, (_, n) => n)

function* inBatches<T>(rows: readonly T[]): Generator<T[]> {
  for (let at = 0; at < rows.length; at += TOGETHER) yield rows.slice(at, at + TOGETHER)
}
