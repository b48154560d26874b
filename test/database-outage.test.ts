import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Answer,
  createPostgres,
  type DatabaseProxy,
  type Person,
  startProxy,
  startTestApp,
  type TestApp,
  useInSuite,
} from '@trellis/server/testing'
import { sql } from 'kysely'
import { startServer, withDataDirectory } from './server-process.ts'

const UNREACHABLE = {
  defined: false,
  code: 'SERVICE_UNAVAILABLE',
  status: 503,
  message: 'The database cannot be reached; try again in a moment',
  data: {},
}

function assertUnavailable({ status, headers, body }: Answer): void {
  assert.deepEqual(body, UNREACHABLE)
  assert.equal(status, 503)
  assert.equal(headers.get('retry-after'), '5')
}

describe('a PostgreSQL that is away', () => {
  const away = useInSuite(async (made): Promise<{ app: TestApp; proxy: DatabaseProxy }> => {
    const database = made.use(await createPostgres())
    const proxy = made.use(await startProxy(database.url ?? ''))
    const app = made.use(
      await startTestApp({ ...database, url: proxy.url }, { TRELLIS_SHUTDOWN_SECONDS: '2' }),
    )
    made.defer(() => proxy.restore())
    return { app, proxy }
  })
  let ada: Person
  let app: TestApp
  let proxy: DatabaseProxy
  before(async () => {
    ;({ app, proxy } = away)
    ada = await app.signUp('ada')
  })
  beforeEach(async () => {
    await proxy.restore()
    await untilReady()
  })

  const create = (name: string, token = app.ownerKey) => app.call('repos/create', { name }, { token })
  const ready = async () => {
    const began = performance.now()
    const response = await fetch(`${app.url}/readyz`)
    return { status: response.status, body: await response.json(), ms: performance.now() - began }
  }
  async function untilReady(): Promise<void> {
    for (let waited = 0; (await ready()).status !== 200; waited += 50) {
      assert.ok(waited < 10_000, 'it does not come back')
      await sleep(50)
    }
  }
  const signUp = () =>
    fetch(`${app.url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'eve@example.com', name: 'Eve', password: 'correct horse battery' }),
    })

  for (const [how, begin] of [
    ['refuses connections', () => proxy.refuse()],
    ['is frozen', async () => proxy.freeze()],
  ] as const)
    it(`and ${how} gives 503 in time everywhere, one line in the log, and all goes on when it is back`, async () => {
      assert.equal((await create(`before-${how.replaceAll(' ', '-')}`)).status, 200)
      const logged = app.logged().length
      const began = performance.now()
      await begin()

      const asked = Promise.all([
        create('during'),
        create('during', ada.token),
        app.call('repos/list', {}, { token: app.ownerKey }),
        app.call('repos/list', {}, { token: ada.token }),
      ])
      const git = fetch(`${app.url}/git/owner/hello.git/info/refs?service=git-upload-pack`, {
        headers: { authorization: `Bearer ${app.ownerKey}` },
      })
      const { status, body, ms } = await ready()
      assert.deepEqual(
        [status, body],
        [503, { status: 'unavailable', reason: 'The database does not answer' }],
      )
      assert.ok(ms < 10_000, `readyz took ${ms} ms`)
      for (const answer of await asked) assertUnavailable(answer)
      const { status: gitStatus, headers } = await git
      assert.deepEqual([gitStatus, headers.get('retry-after')], [503, '5'])
      assert.equal(await (await git).text(), `${UNREACHABLE.message}\n`)
      const signedUp = await signUp()
      assert.equal(signedUp.status, 503, await signedUp.text())
      const took = performance.now() - began
      assert.ok(took < 30_000, `it took ${took} ms`)
      // Everything in the background has met it by now.
      for (const work of ['key usage', 'old throttles', 'expired repositories'])
        await app.background.run(work)

      await proxy.restore()
      await untilReady()
      assert.equal((await create(`after-${how.replaceAll(' ', '-')}`)).status, 200)
      assert.equal((await app.call('repos/get', { name: 'during' }, { token: app.ownerKey })).status, 404)
      await sleep(50)
      const lines = app
        .logged()
        .slice(logged)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
      const errors = lines.filter(({ level }) => level === 'error')
      assert.deepEqual(
        errors.map(({ message }) => message),
        ['the database cannot be used'],
      )
      assert.ok(lines.some(({ message }) => message === 'the database can be used again'))
    })

  it('that takes long over one query is not taken for one that is away', async () => {
    await sql`select pg_sleep(5)`.execute(app.database.db)
  })
})

describe('a process', () => {
  it('ends when it is told to, though its database is frozen', () =>
    withDataDirectory(async (data) => {
      await using database = await createPostgres()
      await using proxy = await startProxy(database.url ?? '')
      const server = await startServer(data, {
        TRELLIS_DATABASE_URL: proxy.url,
        TRELLIS_SHUTDOWN_SECONDS: '1',
        TRELLIS_OWNER_KEY: 'the-key-of-the-first-owner',
      })
      const list = () => fetch(`${server.url}/api/v1/repos/list`, { method: 'POST' }).catch(() => undefined)
      await Promise.all([list(), list(), list()])
      proxy.freeze()
      const asked = list()
      assert.equal(await server.stop(), 0)
      await asked
    }))
})

describe('a start', () => {
  it('waits for a database that comes later, and says so', async () => {
    await using database = await createPostgres()
    await using proxy = await startProxy(database.url ?? '')
    await proxy.refuse()
    const said = Promise.withResolvers<void>()
    const starting = startTestApp(
      { ...database, url: proxy.url },
      { TRELLIS_DATABASE_WAIT_SECONDS: '120' },
      {
        onLogged: (lines) => {
          if (/"waiting for the database".*ECONNREFUSED/.test(lines)) said.resolve()
        },
      },
    )
    await Promise.race([said.promise, starting])
    await proxy.restore()
    await using app = await starting
    assert.match(app.logged(), /"waiting for the database".*ECONNREFUSED/)
    assert.equal((await app.call('repos/list', {}, { token: app.ownerKey })).status, 200)
  })

  it('gives up on one that is silent', async () => {
    await using database = await createPostgres()
    await using proxy = await startProxy(database.url ?? '')
    proxy.freeze()
    await assert.rejects(
      startTestApp({ ...database, url: proxy.url }, { TRELLIS_DATABASE_WAIT_SECONDS: '1' }),
      /The database at 127\.0\.0\.1:\d+\/test_\w+ cannot be reached/,
    )
  })
})
