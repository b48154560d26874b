// Repositories brought from elsewhere: from a second Trellis on the same machine.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import {
  type Answer,
  assertFault,
  assertInvalid,
  createPostgres,
  createSqlite,
  useInSuite,
} from '@trellis/server/testing'
import { type Host, listed, startHost, startSqliteHost, useHost } from './harness.ts'

let secret: string
const source = useHost(createSqlite, {}, async (source) => {
  await source.filled('origin')
  secret = (await source.ok('tokens/create', { name: 'origin', scope: 'read' })).secret
})
/** May reach this machine. */
const host = useInSuite(async (made) =>
  made.use(
    await startHost(createPostgres, {
      TRELLIS_EGRESS_ALLOW: '127.0.0.1',
      TRELLIS_REPO_MAX_BYTES: '400000',
    }),
  ),
)
let elsewhere: Server
before(async () => {
  elsewhere = createServer((request, response) => {
    if (request.url?.startsWith('/moved')) {
      response
        .writeHead(302, { location: `${source.remote('origin')}${request.url.slice('/moved'.length)}` })
        .end()
    } else response.end('<html>no repository</html>')
  }).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
})
after(() => {
  elsewhere.close()
  elsewhere.closeAllConnections()
})

const bring = (name: string, url: string, password?: string, to: Host = host): Promise<Answer> =>
  to.call('repos/import', { name, url, ...(password && { credentials: { username: 'x', password } }) })
const other = (path: string) => `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}${path}`

/** Everything the database and the log have. */
async function everythingKept(): Promise<string> {
  const { db } = host.app.database
  const events = await db.selectFrom('events').selectAll().execute()
  const repos = await db.selectFrom('repos').selectAll().execute()
  return JSON.stringify([events, repos]) + host.app.logged()
}

describe('repos/import', () => {
  it('brings branches, tags and the default branch, whole', async () => {
    await source.ok('repos/update', { name: 'origin', defaultBranch: 'side' })
    const url = source.remote('origin')
    const { status, body } = await bring('brought', url, secret)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.name, body.defaultBranch, body.source], ['brought', 'side', url])
    assert.ok(body.sizeBytes > 0)
    const client = host.client()
    assert.deepEqual(await listed(client, host.remote('brought')), await listed(source.client(), url))
    const clone = await host.clone('brought')
    await clone.run('fsck', '--full', '--strict')
    assert.equal(await clone.run('branch', '--show-current'), 'side')
    const events = await host.events('brought')
    assert.deepEqual(
      events.map(({ type, payload }) => [type, payload.source]),
      [
        ['repo.created', url],
        ['repo.imported', url],
      ],
    )
    assert.equal(events[1]?.payload.refs, 3)
    // And goes on from there.
    await clone.commit({ 'more.txt': 'm\n' })
    await clone.run('push', '-q', 'origin', 'HEAD')
  })

  it('keeps the credential nowhere', async () => {
    await bring('with-secret', source.remote('origin'), secret)
    await bring('refused', source.remote('nothing'), secret)
    const kept = await everythingKept()
    assert.match(kept, /with-secret/)
    assert.ok(!kept.includes(secret))
    assert.ok(!kept.includes(Buffer.from(`x:${secret}`).toString('base64')))
    assertInvalid(await bring('in-url', source.remote('origin').replace('//', `//x:${secret}@`)), ['url'])
    assert.ok(!(await everythingKept()).includes(secret))
  })

  it('brings an empty repository', async () => {
    await source.repo('empty', 'trunk')
    const token = (await source.ok('tokens/create', { name: 'empty' })).secret
    const { status, body } = await bring('still-empty', source.remote('empty'), token)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.defaultBranch, body.sizeBytes], ['trunk', 0])
    const client = await host.clone('still-empty')
    await client.commit({ 'a.txt': 'a\n' })
    await client.run('push', '-q', 'origin', 'HEAD')
  })

  it('says why it failed, in words that tell nothing else, and leaves no repository', async () => {
    const failed = async (answer: Promise<Answer>, name: string, why: string) => {
      assertFault(await answer, 'IMPORT_FAILED', { name }, `Repo import failed: ${why}`)
      assertFault(await host.call('repos/get', { name }), 'REPO_NOT_FOUND', { name })
    }
    const url = source.remote('origin')
    const wrong = 'the remote asks for other credentials'
    await failed(bring('f1', url), 'f1', wrong)
    await failed(bring('f2', url, 'wrong-password'), 'f2', wrong)
    await failed(
      bring('f3', source.remote('nothing'), secret),
      'f3',
      'there is no git repository at this URL',
    )
    await failed(bring('f4', other('/page')), 'f4', 'there is no git repository at this URL')
    await failed(bring('f5', 'http://127.0.0.1:1/x.git'), 'f5', 'the remote could not be reached')
    const moved = await bring('f6', other('/moved'), secret)
    assert.equal(moved.body.code, 'IMPORT_FAILED')
    const large = source.client()
    await large.run('init', '-q')
    await source.repo('large')
    await large.commit({ 'large.txt': Array.from({ length: 90_000 }, (_, i) => Math.sin(i)).join('\n') })
    await large.run('push', '-q', source.remote('large'), 'main')
    const token = (await source.ok('tokens/create', { name: 'large' })).secret
    await failed(bring('f7', source.remote('large'), token), 'f7', 'the repository is too large')
    assert.ok(!(await everythingKept()).includes('wrong-password'))
  })

  it('refuses an address that is none, and a name that is taken, before it asks anybody', async () => {
    for (const url of [
      'ftp://example.com/x.git',
      'file:///etc/passwd',
      '/etc/passwd',
      'ext::sh -c id',
      'git@host:x.git',
    ])
      assertInvalid(await bring('bad', url), ['url'])
    await host.repo('taken')
    assertFault(await bring('taken', source.remote('origin'), secret), 'REPO_ALREADY_EXISTS', {
      name: 'taken',
    })
  })

  it('does not reach into its own network unless the operator lets it', async () => {
    await using careful = await startSqliteHost()
    for (const url of [
      source.remote('origin'),
      source.remote('origin').replace('127.0.0.1', 'localhost'),
      source.remote('origin').replace('127.0.0.1', '[::ffff:127.0.0.1]'),
      'https://169.254.169.254/latest/meta-data',
      'https://10.0.0.1/x.git',
      'https://[::1]/x.git',
    ])
      assertFault(
        await bring('inside', url, secret, careful),
        'IMPORT_FAILED',
        { name: 'inside' },
        'Repo import failed: the remote could not be reached',
      )
    assert.deepEqual((await careful.ok('repos/list')).items, [])
  })
})
