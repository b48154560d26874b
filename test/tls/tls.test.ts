// What the server connects to on somebody's behalf, over TLS: an authority made for the test, believed because the
// operator said so, and certificates that are not right.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { assertFault, createSqlite, useInSuite } from '@trellis/server/testing'
import { listed, startHost, until } from '../git/harness.ts'
import { type Certificate, createAuthority } from './certificates.ts'

/** Speaks TLS: takes webhooks, and hands what is for git on to a server that does not. */
async function startFront(certificate: Certificate, made: AsyncDisposableStack, target: () => string) {
  const received: string[] = []
  const server = createServer(certificate, (incoming, response) => {
    const isForGit = incoming.url?.startsWith('/git/')
    if (!isForGit) {
      received.push(incoming.url ?? '')
      incoming.resume()
      response.end()
      return
    }
    const { method = 'GET', headers } = incoming
    const passed = request(`${target()}${incoming.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(passed)
  }).listen()
  await once(server, 'listening')
  made.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, received }
}

const world = useInSuite(async (made) => {
  const authority = createAuthority('An authority of the operator')
  const stranger = createAuthority('An authority nobody knows')
  const directory = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-tls-')))
  const file = join(directory.path, 'authorities.pem')
  await writeFile(file, `# Ours\n${authority.cert}`)
  const host = made.use(
    await startHost(createSqlite, {
      TRELLIS_CA_FILE: file,
      TRELLIS_EGRESS_ALLOW: 'localhost,127.0.0.1,::1',
    }),
  )
  const { client } = await host.filled('origin')
  const { secret } = await host.ok('tokens/create', { name: 'origin', scope: 'read' })
  const front = (certificate: Certificate) => startFront(certificate, made, () => host.app.url)
  const right = await front(authority.issue('localhost'))
  const unknown = await front(stranger.issue('localhost'))
  const expired = await front(authority.issue('localhost', -1))
  return { host, client, secret, right, unknown, expired }
})

/** Where a certificate is not right, and what is said of it. */
const wrongs = (): [string, string, string][] => [
  [
    'unknown',
    `https://localhost:${world.unknown.port}`,
    'the certificate is signed by an authority that is not trusted here',
  ],
  ['other-name', `https://127.0.0.1:${world.right.port}`, 'the certificate is for another name'],
  ['expired', `https://localhost:${world.expired.port}`, 'the certificate has expired'],
]

describe('webhooks over TLS', () => {
  const attempted = async (webhook: string, url: string) => {
    const { host } = world
    await host.ok('webhooks/create', { name: 'origin', webhook, url: `${url}/${webhook}` })
    // Each hears of its own making.
    let found: { status: string; responseStatus: number | null; error: string | null } | undefined
    await until(`${webhook} was tried`, async () => {
      const { items } = await host.ok('webhooks/deliveries/list', { name: 'origin', webhook })
      found = items.at(-1)
      return found?.status === 'success' || Boolean(found?.error)
    })
    return found
  }

  it('are delivered where the authority is one of those the operator named', async () => {
    assert.equal((await attempted('right', `https://localhost:${world.right.port}`))?.status, 'success')
    assert.ok(world.right.received.includes('/right'))
  })

  it('are not where the certificate is not right, and the delivery says why', async () => {
    for (const [webhook, url, why] of wrongs()) {
      const delivery = await attempted(webhook, url)
      assert.deepEqual([delivery?.status, delivery?.error], ['pending', why])
    }
    assert.ok(!world.right.received.includes('/other-name'))
    assert.deepEqual([world.unknown.received, world.expired.received], [[], []])
  })
})

describe('imports over HTTPS', () => {
  const bring = (name: string, front: string) => {
    const { host, secret } = world
    const url = `${front}/git/${host.owner.slug}/origin.git`
    return host.call('repos/import', { name, url, credentials: { username: 'x', password: secret } })
  }

  it('come from where the authority is one of those the operator named', async () => {
    const { host, client } = world
    const { status, body } = await bring('brought', `https://localhost:${world.right.port}`)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(
      (await listed(host.client(), host.remote('brought')))['refs/heads/main'],
      await client.rev('main'),
    )
  })

  it('do not where the certificate is not right, and the answer says why', async () => {
    for (const [name, front, why] of wrongs())
      assertFault(await bring(name, front), 'IMPORT_FAILED', { name }, `Repo import failed: ${why}`)
  })
})
