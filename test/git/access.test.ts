// Who may read and push, and what they are told.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { createSqlite, foundOrg, type Person } from '@trellis/server/testing'
import { type Client, createClient, pushBody, startSqliteHost, useHost } from './harness.ts'

let stranger: Client
let pusher: Client
/** Belongs to none of the owner's organizations. */
let other: Person
const host = useHost(createSqlite, {}, async (host) => {
  // Its credential is in the address, never in a header.
  pusher = createClient((await host.filled('here')).client.dir)
  await host.repo('there')
  other = await host.app.signUp('other')
  stranger = createClient(host.sandbox.path('stranger'))
})

const ask = (path: string, authorization?: string, init: RequestInit = {}) =>
  fetch(`${host.app.url}${path}`, { ...init, headers: { ...(authorization && { authorization }) } })
const refsOf = (name: string, service = 'git-upload-pack', org = host.owner.slug) =>
  `/git/${org}/${name}.git/info/refs?service=${service}`
const basic = (secret: string, user = 'whoever') =>
  `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
/** The address with a credential in it, as people paste it. */
const withSecret = (name: string, secret: string, org = host.owner.slug) =>
  `${host.app.url.replace('//', `//git:${encodeURIComponent(secret)}@`)}/git/${org}/${name}.git`
const token = async (name: string, scope: 'read' | 'write') =>
  host.ok('tokens/create', { name, scope }) as Promise<{ id: string; secret: string }>
const unchanged = async (work: () => Promise<void>) => {
  const refs = await host.refs('here')
  const events = await host.events('here')
  await work()
  assert.deepEqual(await host.refs('here'), refs)
  assert.deepEqual(
    (await host.events('here')).filter(({ type }) => type.startsWith('git.')),
    events.filter(({ type }) => type.startsWith('git.')),
  )
}

describe('a stranger', () => {
  it('sees 401 for everything, whether it exists or not', async () => {
    const paths = [
      refsOf('here'),
      refsOf('here', 'git-receive-pack'),
      refsOf('nothing'),
      refsOf('here', 'git-upload-pack', 'nobody'),
      refsOf('here', 'nonsense'),
      `/git/${host.owner.slug}/here.git/HEAD`,
      '/git/',
      '/git/UPPER/%2e%2e',
    ]
    const answers = await Promise.all(
      paths.map(async (path) => {
        const response = await ask(path)
        return `${response.status} ${response.headers.get('www-authenticate')} ${await response.text()}`
      }),
    )
    assert.equal(new Set(answers).size, 1)
    assert.match(
      answers[0] ?? '',
      /^401 Bearer .*, Basic realm="Trellis" Sign in: any user name.*\/auth\.md /s,
    )
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const response = await ask(`/git/${host.owner.slug}/here.git/${service}`, undefined, {
        method: 'POST',
        body: '0000',
      })
      assert.equal(response.status, 401)
    }
  })

  it('is asked by git for a name and a password', async () => {
    assert.match(await stranger.fails('ls-remote', host.remote('here')), /could not read Username/)
    assert.match(await stranger.fails('ls-remote', host.remote('nothing')), /could not read Username/)
  })

  it('gets nowhere with garbage', async () => {
    for (const secret of ['wrong', `trk_${'a'.repeat(40)}`, `trt_${'b'.repeat(40)}`, 'ü', '']) {
      assert.equal((await ask(refsOf('here'), basic(secret))).status, 401, secret)
    }
    assert.equal((await ask(refsOf('here'), 'Basic !!!')).status, 401)
    assert.equal((await ask(refsOf('here'), 'Basic')).status, 401)
    assert.equal((await ask(refsOf('here'), 'Negotiate abc')).status, 401)
    assert.match(await stranger.fails('ls-remote', withSecret('here', 'wrong')), /Authentication failed/)
  })
})

describe('a credential', () => {
  it('works as a bearer and as a password with any user name: session, key and token', async () => {
    const { secret: key } = await host.ok('keys/create', { name: 'git' })
    const { secret: repoToken } = await token('here', 'read')
    for (const secret of [host.owner.token, key, repoToken]) {
      assert.equal((await ask(refsOf('here'), `Bearer ${secret}`)).status, 200)
      assert.equal((await ask(refsOf('here'), basic(secret))).status, 200)
      assert.equal((await ask(refsOf('here'), basic(secret, ''))).status, 200)
      await stranger.run('ls-remote', withSecret('here', secret))
    }
  })

  it('pushes when it may write: session, key and write token, and the event names the one used', async () => {
    const key = await host.ok('keys/create', { name: 'pushes' })
    const write = await token('here', 'write')
    for (const [i, { secret, id }] of [key, write].entries()) {
      await pusher.run('push', '-q', withSecret('here', secret), `main:refs/heads/by-${i}`)
      const { items } = await host.ok('events/list', { name: 'here', order: 'newest', types: ['git.push'] })
      assert.equal(items[0].credentialId, id)
      assert.deepEqual(items[0].actor, { kind: 'user', id: host.owner.userId })
    }
    await pusher.run('push', '-q', withSecret('here', host.owner.token), 'main:refs/heads/by-session')
  })

  it('that may only read clones and does not push, and the user reads why', async () => {
    const read = await token('here', 'read')
    const key = await host.ok('keys/create', { name: 'reads', scopes: ['repo:read'] })
    for (const { secret } of [read, key])
      await unchanged(async () => {
        const clone = createClient(host.sandbox.path('reader'))
        await clone.run('clone', '-q', withSecret('here', secret), '.')
        const { code, stderr } = await clone.attempt('push', 'origin', 'HEAD:refs/heads/mine')
        assert.notEqual(code, 0)
        assert.match(stderr, /remote: .*lacks the scope repo:write/)
        // Nor by going straight to the second request.
        const posted = await ask(`/git/${host.owner.slug}/here.git/git-receive-pack`, basic(secret), {
          method: 'POST',
          body: '0000',
        })
        assert.equal(posted.status, 403)
      })
  })

  it('for one repository does not see another, nor learn whether there is one', async () => {
    const { secret } = await token('there', 'write')
    assert.equal((await ask(refsOf('here'), basic(secret))).status, 404)
    assert.equal((await ask(refsOf('nothing'), basic(secret))).status, 404)
    assert.equal((await ask(refsOf('there', 'git-receive-pack'), basic(secret))).status, 200)
    assert.match(await stranger.fails('ls-remote', withSecret('here', secret)), /not found/)
  })

  it('does not see the repositories of a foreign organization', async () => {
    for (const service of ['git-upload-pack', 'git-receive-pack'])
      for (const name of ['here', 'nothing'])
        assert.equal((await ask(refsOf(name, service), basic(other.token))).status, 404)
    assert.equal((await ask(refsOf('here', 'git-upload-pack', 'nobody'), basic(other.token))).status, 404)
  })

  it('of a member works in the organization named by the address', async () => {
    const org = await foundOrg(host.app, 'guild')
    await host.app.client(org.owner.token, 'guild').repos.create({ name: 'shared' })
    const member = createClient(host.sandbox.path('member'), { token: org.member.token })
    await member.run('clone', '-q', `${host.app.url}/git/guild/shared.git`, '.')
    await member.commit({ 'a.txt': 'a\n' })
    await member.run('push', '-q', 'origin', 'HEAD:main')
    await host.app.client(org.owner.token).members.remove({ orgSlug: 'guild', userId: org.member.userId })
    assert.match(await member.fails('fetch', 'origin'), /not found/)
  })

  it('stops working the moment it is revoked', async () => {
    const write = await token('here', 'write')
    const url = withSecret('here', write.secret)
    await stranger.run('ls-remote', url)
    await host.ok('tokens/revoke', { name: 'here', id: write.id })
    assert.match(await stranger.fails('ls-remote', url), /Authentication failed/)
    const key = await host.ok('keys/create', { name: 'short' })
    await stranger.run('ls-remote', withSecret('here', key.secret))
    await host.ok('keys/revoke', { id: key.id })
    assert.match(await stranger.fails('ls-remote', withSecret('here', key.secret)), /Authentication failed/)
  })

  it('keeps working under the new name of its repository, and at the old one until it is taken', async () => {
    await host.filled('before')
    const { secret } = await token('before', 'write')
    await host.ok('repos/update', { name: 'before', newName: 'after' })
    await pusher.run('push', '-q', withSecret('after', secret), 'main:refs/heads/new')
    await pusher.run('push', '-q', withSecret('before', secret), 'main:refs/heads/newer')
    await host.repo('before')
    assert.equal((await ask(refsOf('before'), basic(secret))).status, 404)
  })
})

describe('a repository that takes no pushes', () => {
  it('says so in words when it is read-only, and still serves clones', async () => {
    const { client, url } = await host.filled('archive')
    await host.ok('repos/update', { name: 'archive', readOnly: true })
    assert.match(await client.fails('push', url, 'main:refs/heads/x'), /remote: This repository is read-only/)
    assert.deepEqual(Object.keys(await host.refs('archive')), [
      'refs/heads/main',
      'refs/heads/side',
      'refs/tags/v1',
    ])
    await host.clone('archive')
    await host.ok('repos/update', { name: 'archive', readOnly: false })
    await client.run('push', '-q', url, 'main:refs/heads/x')
  })

  it('says so in words when its organization is frozen', async () => {
    const org = await foundOrg(host.app, 'frozen')
    const api = host.app.client(org.owner.token, 'frozen')
    await api.repos.create({ name: 'cold' })
    const url = `${host.app.url}/git/frozen/cold.git`
    const member = createClient(host.sandbox.path('cold'), { token: org.member.token })
    await member.run('init', '-q')
    await member.commit({ 'a.txt': 'a\n' })
    await member.run('push', '-q', url, 'main')
    await api.orgs.update({ orgSlug: 'frozen', frozen: true })
    assert.match(await member.fails('push', url, 'main:refs/heads/x'), /remote: .*(read-only|frozen)/)
    await member.run('ls-remote', url)
    await api.orgs.update({ orgSlug: 'frozen', frozen: false })
    await member.run('push', '-q', url, 'main:refs/heads/x')
  })

  it('refuses a push that began before it became read-only', async () => {
    const { client, url } = await host.filled('closing')
    await client.commit({ 'late.txt': 'late\n' })
    // The advertisement was fetched while it was writable; the second request comes after.
    const advertised = await ask(refsOf('closing', 'git-receive-pack'), basic(host.owner.token))
    assert.equal(advertised.status, 200)
    await host.ok('repos/update', { name: 'closing', readOnly: true })
    const posted = await ask(
      `/git/${host.owner.slug}/closing.git/git-receive-pack`,
      basic(host.owner.token),
      {
        method: 'POST',
        body: '0000',
      },
    )
    assert.equal(posted.status, 403)
    assert.equal(await posted.text(), 'This repository is read-only, or its organization is frozen\n')
    assert.match(await client.fails('push', url, 'main'), /read-only/)
  })

  it('refuses a push whose pack was on its way when its organization was frozen', async () => {
    const org = await foundOrg(host.app, 'freezing')
    const api = host.app.client(org.owner.token, 'freezing')
    await api.repos.create({ name: 'slow' })
    const client = createClient(host.sandbox.path('slow'), { token: org.member.token })
    await client.run('init', '-q')
    const oid = await client.commit({ 'a.txt': 'a\n' })
    const pack = execFileSync('git', ['-C', client.dir, 'pack-objects', '--revs', '--stdout', '-q'], {
      input: `${oid}\n`,
    })
    const body = pushBody([{ ref: 'refs/heads/main', after: oid }], pack)
    const change = Promise.withResolvers<void>()
    const isHalfway = Promise.withResolvers<void>()
    const push = () =>
      fetch(`${host.app.url}/git/freezing/slow.git/git-receive-pack`, {
        method: 'POST',
        headers: {
          authorization: basic(org.member.token),
          'content-type': 'application/x-git-receive-pack-request',
          'trellis-org': 'freezing',
        },
        duplex: 'half',
        body: ReadableStream.from(
          (async function* () {
            yield body.subarray(0, -10)
            // The transaction is the last to look; everything before has seen that pushing is allowed.
            setTimeout(isHalfway.resolve, 100)
            await change.promise
            yield body.subarray(-10)
          })(),
        ),
      })
    const asked = push()
    await isHalfway.promise
    await api.orgs.update({ orgSlug: 'freezing', frozen: true })
    change.resolve()
    const answer = await (await asked).text()
    assert.match(answer, /unpack ok/)
    assert.match(answer, /ng refs\/heads\/main/)
    assert.deepEqual((await api.git.branches.list({ name: 'slow' })).items, [])
    await api.orgs.update({ orgSlug: 'freezing', frozen: false })
    assert.match(await (await push()).text(), /ok refs\/heads\/main/)
  })
})

it('limits how often one credential asks, and says when to come back', async () => {
  await using limited = await startSqliteHost({ TRELLIS_RATE_PER_SECOND: '1', TRELLIS_RATE_BURST: '20' })
  await limited.repo('busy')
  const { secret } = await limited.ok('keys/create', { name: 'eager' })
  const url = `${limited.remote('busy')}/info/refs?service=git-upload-pack`
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => fetch(url, { headers: { authorization: basic(secret) } })),
  )
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length >= 5 && refused.length <= 10, `${refused.length} refused`)
  assert.match(refused[0]?.headers.get('retry-after') ?? '', /^\d+$/)
  assert.equal(answers.filter(({ status }) => status === 200).length, 30 - refused.length)
  const client = createClient(limited.sandbox.path('eager'), { token: secret })
  assert.match(await client.fails('ls-remote', limited.remote('busy')), /429|Too many requests/)
})
