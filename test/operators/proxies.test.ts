import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { createSqlite, openTail, startTestApp, useInSuite } from '@trellis/server/testing'
import { createClient, createSandbox, pushBody, ZERO } from '../git/harness.ts'
import { caddy, freePorts, HOST, makeCertificate, nginx } from './proxy.ts'

/** Longer than what the proxy would wait if its site did not say otherwise. */
const QUIET_MS = 2_500

for (const proxy of [nginx, caddy])
  describe(`Trellis behind ${proxy.name}`, { skip: proxy.missing ?? false }, () => {
    const site = useInSuite(async (made) => {
      const directory = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-proxy-')))
      const ports = await freePorts()
      const database = made.use(await createSqlite())
      const app = made.use(
        await startTestApp(database, {
          TRELLIS_LISTEN: `127.0.0.1:${ports.trellis}`,
          TRELLIS_BASE_URL: `http://${HOST}:${ports.plain}`,
          TRELLIS_TRUSTED_PROXIES: '127.0.0.1',
        }),
      )
      const certificate = await makeCertificate(directory.path)
      made.use(await proxy.start({ ...ports, directory: directory.path, certificate }))
      const sandbox = createSandbox()
      made.defer(async () => sandbox.remove())
      return { app, ports, certificate, sandbox, directory: directory.path }
    })

    const owner = () => ({ token: site.app.ownerKey })
    const authorization = () => ({ authorization: `Bearer ${site.app.ownerKey}` })

    async function make(name: string): Promise<string> {
      const { status, body } = await site.app.call('repos/create', { name }, owner())
      assert.equal(status, 200, JSON.stringify(body))
      assert.ok(body.remote.startsWith(`http://${HOST}:${site.ports.plain}/git/`), body.remote)
      return body.remote
    }

    const send = (path: string, options: RequestOptions) =>
      request({ host: HOST, port: site.ports.plain, path, method: 'POST', ...options })

    it('takes a large push over TLS and gives it back, without keeping any of it in files of its own', async () => {
      const { ports, certificate, sandbox, directory } = site
      const remote = (await make('large')).replace(
        `http://${HOST}:${ports.plain}`,
        `https://${HOST}:${ports.tls}`,
      )
      const trusting = ['-c', `http.sslCAInfo=${certificate.file}`]
      const client = createClient(sandbox.path('client'), { token: site.app.ownerKey ?? '' })
      await client.run('init', '-q', '-b', 'main')
      await client.commit({ 'large.txt': randomBytes(2_000_000).toString('base64') })
      await client.run(...trusting, 'push', '-q', remote, 'main')
      const clone = createClient(sandbox.path('clone'), { token: site.app.ownerKey ?? '' })
      await clone.run(...trusting, 'clone', '-q', remote, '.')
      assert.equal(await clone.rev('main'), await client.rev('main'))
      for (const name of await readdir(directory))
        if (name.startsWith('temp-')) assert.deepEqual(await readdir(join(directory, name)), [], name)
    })

    it('offers no protocol over which git may hang', async () => {
      const { ports, certificate } = site
      const ca = await readFile(certificate.file)
      const ALPNProtocols = ['h2', 'http/1.1']
      const socket = connect({ host: HOST, port: ports.tls, ca, ALPNProtocols })
      await once(socket, 'secureConnect')
      assert.equal(socket.alpnProtocol, 'http/1.1')
      socket.destroy()
    })

    it('waits for a push that is quiet for a while', async () => {
      const remote = new URL(await make('quiet'))
      const options = { token: site.app.ownerKey }
      const changes = [{ op: 'put', path: 'a', content: 'a' }]
      const commit = { name: 'quiet', branch: 'main', message: 'a', changes }
      const { body: made } = await site.app.call('git/commits/create', commit, options)
      const body = pushBody([{ ref: 'refs/heads/other', before: ZERO, after: made.oid }])
      const pushing = send(`${remote.pathname}/git-receive-pack`, {
        headers: { ...authorization(), 'content-type': 'application/x-git-receive-pack-request' },
      })
      const answered = once(pushing, 'response')
      pushing.write(body.subarray(0, 20))
      await sleep(QUIET_MS)
      pushing.end(body.subarray(20))
      const [response] = (await answered) as [IncomingMessage]
      assert.equal(response.statusCode, 200)
      assert.match((await response.toArray()).join(''), /ok refs\/heads\/other/)
    })

    it('passes on live events as they come, also after a while without any', async () => {
      await make('told')
      const url = `${site.app.url}/api/v1/events/tail?name=told`
      await using tail = await openTail(url, authorization())
      assert.equal(tail.status, 200)
      await sleep(QUIET_MS)
      for (const defaultBranch of ['one', 'two']) {
        const updated = await site.app.call('repos/update', { name: 'told', defaultBranch }, owner())
        assert.equal(updated.status, 200, JSON.stringify(updated.body))
        assert.equal((await tail.next())?.data.type, 'repo.updated')
      }
    })

    it('says who the client is, whatever the client says', async () => {
      const asking = send('/agent/identity', {
        localAddress: '127.0.0.3',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' },
      }).end(JSON.stringify({ type: 'anonymous' }))
      const [response] = (await once(asking, 'response')) as [IncomingMessage]
      const { registration_id: id } = JSON.parse((await response.toArray()).join(''))
      const { address } = await site.app.database.db
        .selectFrom('agent_registrations')
        .select('address')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      assert.equal(address, '127.0.0.3')
    })

    it('leaves it to Trellis to say what is too large', async () => {
      const { status, body } = await site.app.call('repos/list', { cursor: 'x'.repeat(3_000_000) }, owner())
      assert.equal(status, 413)
      assert.equal(body.status, 413)
    })
  })
