import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { asEnvelope, onEachDatabase, useApp } from '../testing/index.ts'

onEachDatabase('what the owner of the server sees', (create) => {
  const app = useApp(create)
  let session = ''
  let ana: Awaited<ReturnType<typeof app.signUp>>

  before(async () => {
    // Its account is made at the first start; a session is what its link leads to.
    ana = await app.signUp('ana')
    const { db } = app.database
    await db.updateTable('first_owner').set({ user_id: ana.userId }).execute()
    session = ana.token
    await app.client(session).repos.create({ name: 'hello' })
    for (const name of ['ben', 'cy']) await app.signUp(name)
    await db.updateTable('users').set({ disabled_at: 1000 }).where('name', '=', 'cy').execute()
  })

  it('is how the server is', async () => {
    const overview = await app.client(session).admin.overview()
    assert.deepEqual(overview.counts, { users: 4, organizations: 4, repositories: 1 })
    assert.equal(overview.database.kind, app.database.dialect)
    assert.ok((overview.database.bytes ?? 0) > 0 && (overview.disk.sizeBytes ?? 0) > 0)
    assert.deepEqual([overview.problems, overview.packs], [[], { missing: 0, damaged: 0 }])
    assert.deepEqual(
      overview.runtimes.map(({ name, enabled, reason }) => [name, enabled, reason === null]),
      [
        ['worker', true, true],
        ['workflow', true, true],
        ['sandbox', false, false],
      ],
    )
    const { queues } = overview
    assert.deepEqual([queues.runsQueued, queues.runsRunning, queues.deliveriesPending], [0, 0, 0])
    assert.match(overview.version, /^\d+\./)
    assert.ok(overview.startedAt <= app.now())
  })

  it('is everybody who has an account, page by page', async () => {
    const { users } = app.client(session).admin
    const first = await users.list({ limit: 3 })
    const rest = await users.list({ cursor: first.nextCursor ?? '' })
    assert.deepEqual(
      [...first.items, ...rest.items].map(({ name, disabledAt }) => [name, disabledAt]).slice(1),
      [
        ['ana', null],
        ['ben', null],
        ['cy', 1000],
      ],
    )
    const { createdAt, ...shown } = first.items[1] ?? { createdAt: 0 }
    assert.deepEqual(shown, {
      id: ana.userId,
      name: 'ana',
      email: ana.email,
      emailVerified: false,
      disabledAt: null,
    })
    assert.ok(Math.abs(createdAt - app.now()) < 600_000)
  })

  it('is for nobody else, and for no key of theirs', async () => {
    const stranger = await app.signUp('stranger')
    const owns = (token: string) => app.client(token).admin.self()
    assert.deepEqual(await Promise.all([session, stranger.token].map(owns)), [
      { owner: true },
      { owner: false },
    ])
    const { secret } = await app.client(session).keys.create({ name: 'all', scopes: ['*', 'account'] })
    for (const [token, reason] of [
      [stranger.token, 'insufficient_role'],
      [secret, 'scope_missing'],
    ] as const)
      for (const path of ['admin/overview', 'admin/users/list']) {
        const answer = await app.call(path, {}, { token })
        assert.deepEqual([answer.status, asEnvelope(answer).data], [403, { reason }], path)
      }
  })
})
