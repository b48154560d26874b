import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { failToStart, ownerKeyIn, startServer, withDataDirectory } from './server-process.ts'

describe('the first start', () => {
  it('makes an owner whose key works at once, tells it once, and keeps it to its owner', () =>
    withDataDirectory(async (data) => {
      const first = await startServer(data)
      const key = await ownerKeyIn(data)
      assert.match(key, /^trk_[0-9A-Za-z]{42}$/)
      assert.equal(first.said().split(key).length - 1, 1)
      assert.match(first.said(), new RegExp(`curl ${first.url}/api/v1/repos/create .*owner\\.key`))
      for (const secret of ['owner.key', 'server.key'])
        assert.equal((await stat(join(data, secret))).mode & 0o777, 0o600, secret)
      assert.ok(!(await readdir(data)).some((name) => name.endsWith('.tmp')))

      const made = await first.client(key).repos.create({ name: 'hello' })
      assert.equal(made.remote, `${first.url}/git/owner/hello.git`)
      const [listed] = (await first.client(key).keys.list()).items
      assert.deepEqual(listed?.scopes, ['*'])
      assert.equal(listed?.prefix, key.slice(0, 12))

      assert.equal(await first.stop(), 0)

      const second = await startServer(data)
      assert.ok(!second.said().includes(key))
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
      })
      assert.ok(!server.said().includes(key))
      assert.match(server.said(), /Bearer \$TRELLIS_OWNER_KEY"/)
      assert.ok(!(await readdir(data)).includes('owner.key'))
      await server.client(key).repos.create({ name: 'hello' })
      const { items } = await server.client(key).members.list({ orgSlug: 'ana' })
      assert.equal(items[0]?.email, 'ana@example.com')
      // A real address can sign in as well.
      assert.equal((await stat(join(data, 'owner.password'))).mode & 0o777, 0o600)
      const password = (await readFile(join(data, 'owner.password'), 'utf8')).trim()
      const signedIn = await fetch(`${server.url}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ana@example.com', password }),
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
      assert.match(said, new RegExp(`^[^\\n]*address already in use[^\\n]*:${port}\\n$`))
      const server = await startServer(data)
      await server.client(await ownerKeyIn(data)).repos.create({ name: 'hello' })
      assert.equal(await server.stop(), 0)
    }))

  it('says in a line that the database cannot be reached', () =>
    withDataDirectory(async (data) => {
      const { exitCode, said } = await failToStart(data, {
        TRELLIS_DATABASE_URL: 'postgres://ana:geheim@127.0.0.1:1/trellis',
      })
      assert.equal(exitCode, 1)
      assert.match(said, /^connect ECONNREFUSED 127\.0\.0\.1:1\n$/)
    }))
})
