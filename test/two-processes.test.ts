import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isDefinedError, safe } from '@trellis/contract/client'
import { createPostgres, type TestDatabase } from '@trellis/server/testing'
import pg from 'pg'
import { failToStart, type ServerProcess, startServer, withDataDirectory } from './server-process.ts'

const SECRET = 'the-same-for-every-process-0123456789'
const OWNER_KEY = 'the-key-of-the-first-owner'

describe('two processes over one PostgreSQL', () => {
  let database: TestDatabase
  let env: Record<string, string | undefined>
  let servers: ServerProcess[]
  let ended: PromiseWithResolvers<void>
  let working: Promise<unknown>

  before(async () => {
    database = await createPostgres('empty')
    env = { TRELLIS_DATABASE_URL: database.url, TRELLIS_SECRET: SECRET, TRELLIS_OWNER_KEY: OWNER_KEY }
    ended = Promise.withResolvers()
    const started = Promise.withResolvers<void>()
    // They share a data directory, as two machines do over a network.
    working = withDataDirectory(async (data) => {
      const both = await Promise.allSettled([startServer(data, env), startServer(data, env)])
      servers = both.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      for (const outcome of both) if (outcome.status === 'rejected') started.reject(outcome.reason)
      started.resolve()
      await ended.promise
      assert.deepEqual(await Promise.all(servers.map((server) => server.stop())), [0, 0])
    })
    await Promise.race([started.promise, working])
  })
  after(async () => {
    ended.resolve()
    await working
    await database.drop()
  })

  const at = (index: 0 | 1, token = OWNER_KEY) => (servers[index] as ServerProcess).client(token)

  async function query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client(database.url)
    await client.connect()
    const { rows } = await client.query<Row>(text).finally(() => client.end())
    return rows
  }

  it('migrated it once, and made one owner', async () => {
    const versions = await query<{ version: number }>(
      'select version from schema_migrations order by version',
    )
    assert.ok(versions.length > 0)
    assert.deepEqual(
      versions.map(({ version }) => version),
      versions.map((_, i) => i + 1),
    )
    assert.deepEqual(await query('select email from users'), [{ email: 'owner@trellis.local' }])
    assert.equal((await query('select id from api_keys')).length, 1)
    assert.equal((await query('select id from orgs')).length, 1)
  })

  it('show what was made through either', async () => {
    const made = await at(0).repos.create({ name: 'from-first' })
    const { remote, ...seen } = await at(1).repos.get({ name: 'from-first' })
    assert.deepEqual({ ...seen, remote: made.remote }, made)
    assert.ok(remote?.startsWith(String(servers[1]?.url)))
    await at(1).repos.create({ name: 'from-second' })
    const { items } = await at(0).repos.list({})
    assert.deepEqual(
      items.map(({ name }) => name),
      ['from-first', 'from-second'],
    )
    assert.deepEqual((await at(0).events.list({})).items, (await at(1).events.list({})).items)
  })

  it('make one of what is made through both at once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => safe(at((i % 2) as 0 | 1).repos.create({ name: 'contested' }))),
    )
    assert.equal(outcomes.filter(({ isSuccess }) => isSuccess).length, 1)
    for (const { error } of outcomes)
      if (error) assert.ok(isDefinedError(error) && error.code === 'REPO_ALREADY_EXISTS')
  })

  it('number the events of one log without a gap', async () => {
    await at(0).repos.create({ name: 'busy' })
    const update = (i: number) =>
      at((i % 2) as 0 | 1).repos.update({ name: 'busy', defaultBranch: `branch-${i}` })
    await Promise.all(Array.from({ length: 30 }, (_, i) => update(i)))
    const { items } = await at(1).events.list({ name: 'busy' })
    assert.deepEqual(
      items.map(({ seq }) => seq),
      Array.from({ length: 31 }, (_, i) => i + 1),
    )
    const { items: orgs } = await at(0).orgs.list({})
    assert.equal(orgs[0]?.repoCount, (await at(1).repos.list({})).items.length)
  })

  it('refuse a key at once that was revoked through the other', async () => {
    const { id, secret } = await at(0).keys.create({ name: 'short-lived' })
    await at(1, secret).repos.list({})
    await at(0).keys.revoke({ id })
    const { error } = await safe(at(1, secret).repos.list({}))
    assert.ok(isDefinedError(error) && error.code === 'UNAUTHENTICATED')
  })

  it('take each other’s sessions, and end them for each other', async () => {
    const post = async (index: 0 | 1, path: string, body: object, token?: string) => {
      const response = await fetch(`${servers[index]?.url}/api/auth/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(body),
      })
      assert.equal(response.status, 200)
      return (await response.json()) as { token: string }
    }
    const person = { email: 'ana@example.com', name: 'Ana', password: 'correct horse battery' }
    const { token } = await post(0, 'sign-up/email', person)
    await at(1, token).repos.create({ name: 'of-ana' })
    await post(1, 'sign-out', {}, token)
    const { error } = await safe(at(0, token).repos.list({}))
    assert.ok(isDefinedError(error) && error.code === 'UNAUTHENTICATED')
  })

  it('let no third in that has a data directory of its own, and say why', () =>
    withDataDirectory(async (data) => {
      const { exitCode, said } = await failToStart(data, env)
      assert.equal(exitCode, 1)
      assert.match(said, /^The repositories of this database are in another data directory than [^\n]+\n$/)
    }))

  it('let no third in that has another secret, and say why', () =>
    withDataDirectory(async (data) => {
      for (const secret of ['another-secret-than-the-first-01234567', undefined]) {
        const { exitCode, said } = await failToStart(data, { ...env, TRELLIS_SECRET: secret })
        assert.equal(exitCode, 1)
        assert.equal(
          said,
          'This database was first used with another server key. Give every process the same TRELLIS_SECRET, ' +
            'or put back the server.key file of the data directory it was first started with.\n',
        )
      }
    }))
})
