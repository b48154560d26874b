import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { NumberedEvent } from '@trellis/contract'
import {
  assertFault,
  assertForbidden,
  assertInvalid,
  foundOrg,
  onEachDatabase,
  plansOf,
  type TestOrg,
  useApp,
} from '../testing/index.ts'
import { listEvents } from './store.ts'

const WRITERS = 20
const WRITES_EACH = 4

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)

onEachDatabase('events', (create) => {
  const app = useApp(create)
  let acme: TestOrg

  before(async () => {
    acme = await foundOrg(app, 'acme')
    // A log of ten: made, then changed nine times, with a token after every third.
    await client().repos.create({ name: 'told' })
    for (const n of range(2, 10)) {
      if (n % 3 === 0) await client().tokens.create({ name: 'told' })
      else await client().repos.update({ name: 'told', defaultBranch: `b${n}` })
    }
  })

  const client = () => app.client(acme.owner.token, 'acme')
  const seqs = (events: NumberedEvent[]) => events.map(({ seq }) => seq)

  it('shows each event whole', async () => {
    const key = await client().keys.create({ name: 'teller' })
    const before = app.now()
    await app.client(key.secret).repos.create({ name: 'whole' })
    const { items, nextCursor } = await client().events.list({ name: 'whole' })
    const [event] = items
    assert.ok(event && items.length === 1 && nextCursor === null)
    const repo = await app.database.db
      .selectFrom('repos')
      .select('id')
      .where('name', '=', 'whole')
      .executeTakeFirstOrThrow()
    assert.deepEqual(event, {
      id: event.id,
      seq: 1,
      ts: event.ts,
      scope: `repo:${repo.id}`,
      type: 'repo.created',
      actor: { kind: 'user', id: acme.owner.userId },
      credentialId: key.id,
      subject: 'whole',
      payload: { name: 'whole', defaultBranch: 'main' },
    } satisfies NumberedEvent)
    assert.match(event.id, /^evt_/)
    assert.ok(event.ts >= before && event.ts <= app.now())
  })

  it('lists from the oldest, or from the newest', async () => {
    assert.deepEqual(seqs((await client().events.list({ name: 'told' })).items), range(1, 10))
    assert.deepEqual(
      seqs((await client().events.list({ name: 'told', order: 'newest' })).items),
      range(1, 10).toReversed(),
    )
  })

  it('goes through the pages in both orders', async () => {
    for (const order of ['oldest', 'newest'] as const) {
      const pages: number[][] = []
      let cursor: string | null | undefined
      do {
        const page = await client().events.list({ name: 'told', order, limit: 4, ...(cursor && { cursor }) })
        pages.push(seqs(page.items))
        cursor = page.nextCursor
      } while (cursor)
      const all = order === 'oldest' ? range(1, 10) : range(1, 10).toReversed()
      assert.deepEqual(pages, [all.slice(0, 4), all.slice(4, 8), all.slice(8)])
    }
  })

  it('starts over at a cursor that says nothing', async () => {
    for (const cursor of ['', 'garbage', Buffer.from('c1:x').toString('base64url')]) {
      assert.deepEqual(seqs((await client().events.list({ name: 'told', cursor, limit: 2 })).items), [1, 2])
      const newest = await client().events.list({ name: 'told', cursor, limit: 2, order: 'newest' })
      assert.deepEqual(seqs(newest.items), [10, 9])
    }
  })

  it('leaves out what a follower has seen', async () => {
    const since = async (since: number, order: 'oldest' | 'newest' = 'oldest') =>
      seqs((await client().events.list({ name: 'told', since, order })).items)
    assert.deepEqual(await since(0), range(1, 10))
    assert.deepEqual(await since(7), [8, 9, 10])
    assert.deepEqual(await since(7, 'newest'), [10, 9, 8])
    assert.deepEqual(await since(10), [])
    assert.deepEqual(await since(Number.MAX_SAFE_INTEGER), [])
    const first = await client().events.list({ name: 'told', since: 5, limit: 2 })
    const second = await client().events.list({
      name: 'told',
      since: 5,
      limit: 2,
      cursor: first.nextCursor ?? '',
    })
    assert.deepEqual(
      [seqs(first.items), seqs(second.items)],
      [
        [6, 7],
        [8, 9],
      ],
    )
  })

  it('picks out types, across pages', async () => {
    const types = ['token.created', 'repo.created']
    const first = await client().events.list({ name: 'told', types, limit: 3 })
    assert.deepEqual(seqs(first.items), [1, 3, 6])
    const second = await client().events.list({
      name: 'told',
      types,
      limit: 3,
      cursor: first.nextCursor ?? '',
    })
    assert.deepEqual([seqs(second.items), second.nextCursor], [[9], null])
    assert.deepEqual((await client().events.list({ name: 'told', types: ['git.push'] })).items, [])
  })

  it('finds a rare type, and a page of many types, in an index', async () => {
    const range = { scope: 'repo:none', order: 'newest', above: 3, limit: 100 } as const
    const plans = await plansOf(app.database, async (db) => {
      for (const types of [['repo.deleted'], ['git.push', 'repo.deleted']])
        await listEvents(db, { ...range, types })
    })
    assert.equal(plans.length, 5)
    // The first of a log are read as they are.
    assert.equal(plans.filter((plan) => /events_type/.test(plan)).length, 3)
    for (const plan of plans) {
      assert.doesNotMatch(plan, /sort|temp b-tree/i)
    }
  })

  it('refuses what it cannot read', async () => {
    const owner = acme.as(acme.owner)
    const ask = (input: object) => app.call('events/list', { name: 'told', ...input }, owner)
    for (const limit of [0, 251]) assertInvalid(await ask({ limit }), ['limit'])
    for (const since of [-1, 0.5]) assertInvalid(await ask({ since }), ['since'])
    assertInvalid(await ask({ order: 'latest' }), ['order'])
    assertInvalid(await ask({ types: [] }), ['types'])
    assertInvalid(await ask({ types: ['Repo.Created'] }), ['types', 0])
    assertInvalid(await ask({ types: Array(33).fill('a') }), ['types'])
    assertFault(await app.call('events/list', { name: 'none' }, owner), 'REPO_NOT_FOUND', { name: 'none' })
  })

  it('tells what happened in the organization to those who may read that', async () => {
    const { items } = await app.client(acme.member.token, 'acme').events.list({})
    assert.deepEqual(
      items.slice(0, 5).map(({ seq, type, subject }) => [seq, type, subject]),
      [
        [1, 'org.created', 'acme'],
        [2, 'invitation.created', acme.admin.email],
        [3, 'member.added', acme.admin.userId],
        [4, 'invitation.created', acme.member.email],
        [5, 'member.added', acme.member.userId],
      ],
    )
    const repoKey = await client().keys.create({ name: 'repos only', scopes: ['repo:admin'] })
    assertForbidden(await app.call('events/list', {}, { token: repoKey.secret }), 'scope_missing')
    const orgKey = await client().keys.create({ name: 'organization only', scopes: ['org:read'] })
    assert.equal((await app.call('events/list', {}, { token: orgKey.secret })).status, 200)
    const repoToken = await client().tokens.create({ name: 'told' })
    assertForbidden(await app.call('events/list', {}, { token: repoToken.secret }), 'scope_missing')
  })

  it(`numbers what ${WRITERS} writers do at once without a gap, in the order a follower sees it`, async () => {
    const { secret } = await client().keys.create({ name: 'writer' })
    const busy = app.client(secret)
    await busy.repos.create({ name: 'busy' })
    const total = 1 + WRITERS * WRITES_EACH
    let seen: number[] = []
    let writing = true

    // If a number were given before its turn to commit, the follower would pass it by and never see it.
    async function follow() {
      while (writing || seen.length < total) {
        // What is asked for before the last is written may not have it.
        const isLastLook = !writing
        const { items } = await busy.events.list({ name: 'busy', since: seen.at(-1) ?? 0 })
        if (isLastLook && items.length === 0) break
        seen = seen.concat(seqs(items))
      }
    }
    async function write(writer: number) {
      for (const n of range(1, WRITES_EACH))
        await busy.repos.update({ name: 'busy', defaultBranch: `w${writer}-${n}` })
    }
    const following = follow()
    await Promise.all(range(1, WRITERS).map(write))
    writing = false
    await following

    assert.deepEqual(seen, range(1, total))
    const last = (await busy.events.list({ name: 'busy', order: 'newest', limit: 1 })).items[0]
    assert.deepEqual(last?.payload, {
      name: 'busy',
      previousName: 'busy',
      defaultBranch: (await busy.repos.get({ name: 'busy' })).defaultBranch,
      readOnly: false,
    })
  })

  it('gives a number back when what it was for fails', async () => {
    const { secret } = await client().keys.create({ name: 'clumsy' })
    const clumsy = app.client(secret)
    for (const name of ['first', 'second']) await clumsy.repos.create({ name })
    await Promise.all(
      range(1, 10).flatMap((n) => [
        app.call('repos/update', { name: 'first', newName: 'second' }, { token: secret }),
        clumsy.repos.update({ name: 'first', defaultBranch: `b${n}` }),
      ]),
    )
    assert.deepEqual(seqs((await clumsy.events.list({ name: 'first' })).items), range(1, 11))
  })
})
