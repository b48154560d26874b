import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createPostgres, createSqlite, startTestApp } from '@trellis/server/testing'
import { MAIN } from './bundled-server.ts'
import { failToStart, ownerKeyIn, startServer, withDataDirectory } from './server-process.ts'

describe('the first start', () => {
  it('makes an owner whose key works at once, tells it once, and keeps it to its owner', () =>
    withDataDirectory(async (data) => {
      const first = await startServer(data, {}, { program: MAIN })
      const key = await ownerKeyIn(data)
      assert.match(key, /^trk_[0-9A-Za-z]{42}$/)
      assert.equal(first.said().split(key).length - 1, 1)
      const [link] = new RegExp(`${first.url}/enter/trl_[0-9A-Za-z]{42}`).exec(first.said()) ?? []
      assert.equal((await fetch(link ?? '')).status, 200)
      assert.match(first.said(), new RegExp(`curl ${first.url}/api/v1/repos/create .*owner\\.key`))
      for (const secret of ['owner.key', 'server.key'])
        assert.equal((await stat(join(data, secret))).mode & 0o777, 0o600, secret)
      assert.ok(!(await readdir(data)).some((name) => name.endsWith('.tmp')))

      const made = await first.client(key).repos.create({ name: 'hello' })
      assert.equal(made.remote, `${first.url}/git/owner/hello.git`)
      const [listed] = (await first.client(key).keys.list()).items
      assert.deepEqual(listed?.scopes, ['*', 'account'])
      assert.equal(listed?.prefix, key.slice(0, 12))

      assert.equal(await first.stop(), 0)

      const second = await startServer(data)
      assert.ok(!second.said().includes(key) && !second.said().includes('/enter/'))
      assert.equal(await ownerKeyIn(data), key)
      const { items } = await second.client(key).repos.list({})
      assert.deepEqual(
        items.map(({ name }) => name),
        ['hello'],
      )
      assert.equal((await second.client(key).keys.list()).items.length, 1)
      assert.equal(await second.stop(), 0)
    }))

  it('takes the key and the address an operator chose, and repeats the key nowhere', () =>
    withDataDirectory(async (data) => {
      const key = 'chosen-by-the-operator'
      const server = await startServer(data, {
        TRELLIS_OWNER_KEY: key,
        TRELLIS_OWNER_EMAIL: 'Ana@Example.com',
        TRELLIS_OWNER_PASSWORD: 'chosen-by-the-operator',
      })
      assert.ok(!server.said().includes(key))
      assert.match(server.said(), /Bearer \$TRELLIS_OWNER_KEY"/)
      assert.ok(!(await readdir(data)).includes('owner.key'))
      await server.client(key).repos.create({ name: 'hello' })
      const { items } = await server.client(key).members.list({ orgSlug: 'ana' })
      assert.equal(items[0]?.email, 'ana@example.com')
      assert.ok(!(await readdir(data)).includes('owner.password'))
      const signedIn = await fetch(`${server.url}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ana@example.com', password: 'chosen-by-the-operator' }),
      })
      assert.equal(signedIn.status, 200)
      assert.equal(await server.stop(), 0)
    }))

  it('lists everything that is wrong with the configuration, and does not begin', () =>
    withDataDirectory(async (data) => {
      const { exitCode, said } = await failToStart(join(data, 'untouched'), {
        TRELLIS_LISTEN: 'nowhere',
        TRELLIS_SIGN_UP: 'maybe',
        TRELLIS_SECRET: 'hush',
        TRELLIS_TYPO: 'x',
        TRELLIS_GITHUB_CLIENT_ID: 'x',
      })
      assert.equal(exitCode, 1)
      assert.deepEqual(said.trim().split('\n'), [
        'The configuration has problems:',
        '  - TRELLIS_LISTEN must look like 127.0.0.1:8787',
        '  - TRELLIS_SECRET must have at least 32 characters',
        '  - TRELLIS_SIGN_UP must be one of open, invited, closed',
        '  - TRELLIS_TYPO is not a setting of Trellis',
        '  - TRELLIS_GITHUB_CLIENT_SECRET must be set too, beside TRELLIS_GITHUB_CLIENT_ID',
      ])
      assert.deepEqual(await readdir(data), [])
    }))

  it('says in a line that the port is taken, and succeeds on another', () =>
    withDataDirectory(async (data) => {
      const squatter = createServer().listen(0, '127.0.0.1')
      await once(squatter, 'listening')
      const { port } = squatter.address() as AddressInfo
      const { exitCode, said } = await failToStart(data, { TRELLIS_LISTEN: `127.0.0.1:${port}` })
      squatter.close()
      assert.equal(exitCode, 1)
      assert.equal(
        said,
        'Trellis cannot listen: another program listens there. Stop it, or set TRELLIS_LISTEN to another ' +
          `(listen EADDRINUSE: address already in use 127.0.0.1:${port}).\n`,
      )
      const server = await startServer(data)
      await server.client(await ownerKeyIn(data)).repos.create({ name: 'hello' })
      assert.equal(await server.stop(), 0)
    }))

  it('says in a line that the database cannot be reached', () =>
    withDataDirectory(async (data) => {
      const { exitCode, said } = await failToStart(data, {
        TRELLIS_DATABASE_URL: 'postgres://ana:geheim@127.0.0.1:1/trellis',
        TRELLIS_DATABASE_WAIT_SECONDS: '0',
      })
      assert.equal(exitCode, 1)
      assert.equal(
        said,
        'The database at 127.0.0.1:1/trellis cannot be reached: look whether PostgreSQL runs there and ' +
          'TRELLIS_DATABASE_URL is right (connect ECONNREFUSED 127.0.0.1:1).\n',
      )
    }))

  it('says in a line what is wrong with the database', async () => {
    await using database = await createPostgres()
    const url = new URL(database.url ?? '')
    const failures: [Record<string, string>, RegExp][] = [
      [{ pathname: '/nowhere' }, /nowhere is not there: create it, .*TRELLIS_DATABASE_URL/],
      [{ username: 'nobody' }, /does not let us in: set the user and the password/],
      [{ search: '?sslmode=verify-full' }, /could not be spoken to over TLS: look at sslmode/],
    ]
    await withDataDirectory(async (data) => {
      for (const [changes, words] of failures) {
        const said = await whyNot({
          TRELLIS_DATA: data,
          TRELLIS_DATABASE_URL: Object.assign(new URL(url), changes).href,
        })
        assert.match(said, words)
        assert.match(said, /^The database at [^\n]+$/)
      }
    })
  })

  it('says in a line what is wrong with the data directory', () =>
    withDataDirectory(async (root) => {
      await writeFile(join(root, 'file'), '')
      await mkdir(join(root, 'broken'))
      await writeFile(
        join(root, 'broken/trellis.db'),
        'this is no database, whatever its name says\n'.repeat(99),
      )
      const failures: [string, RegExp][] = [
        ['file', /is no directory, or something above it is none: move that file away/],
        ['file/below', /is no directory, or something above it is none: move that file away/],
        ['broken', /is no database of SQLite: move it away, or restore a backup/],
        // The system lets nobody make anything there, not even root.
        ['/proc/trellis/below', /may not be written by the user|is where nobody can make one/],
        ['/sys/trellis', /may not be written by the user|is read-only: mount it for writing/],
      ]
      for (const [path, words] of failures) {
        const said = await whyNot({ TRELLIS_DATA: path.startsWith('/') ? path : join(root, path) })
        assert.match(said, words)
        assert.match(said, /^The [^\n]+$/)
      }
    }))
})

/**
 * What an operator is told of a start that fails. In this process, since another takes a second to load: that it ends
 * with these words and nothing else is seen above.
 */
async function whyNot(env: Record<string, string>): Promise<string> {
  await using nowhere = await createSqlite()
  const started = await startTestApp(nowhere, env).catch((error: unknown) => error)
  assert.ok(started instanceof Error && started.constructor.name === 'StartError', String(started))
  return started.message
}
