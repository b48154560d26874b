// What servers of earlier versions have left is migrated, whole, and served: for every schema there ever was.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createPostgres, pollClaim, type Received } from '@trellis/server/testing'
import { Webhook } from 'standardwebhooks'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { migrations } from '../../packages/server/src/db/migrations/index.ts'
import { admin } from '../backup/admin.ts'
import { listed, localRefs } from '../git/client.ts'
import { unexpectedErrors } from '../git/host.ts'
import { type Fixture, readFixtures } from './fixture.ts'
import { type Recorded, SINCE } from './manifest.ts'
import { schemaOf } from './schema-of.ts'
import { SHIPPED } from './shipped.ts'
import { useUpgraded } from './upgraded.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const REPO_MAX_REFS = 12
const ORG_MAX_BYTES = 1_000_000

const fixtures = readFixtures()
const newest = Math.max(...fixtures.map(({ manifest }) => manifest.schema))

for (const fixture of fixtures) describe(`what ${fixture.name} has left`, () => upgrade(fixture))

function upgrade(fixture: Fixture): void {
  const { manifest } = fixture
  const ranForLong = SHIPPED.some(({ commit, inFull }) => inFull && commit === manifest.commit)
  const inFull = manifest.ended === 'stopped' && ranForLong
  // What takes long is not tried on all of them: the oldest has gone through whatever those between it and the newest have.
  const closely = ranForLong || manifest.schema === SINCE.git || manifest.schema === newest
  const knows = (what: keyof typeof SINCE) => manifest.schema >= SINCE[what]
  const old = useUpgraded(fixture, {
    TRELLIS_REPO_MAX_REFS: String(REPO_MAX_REFS),
    TRELLIS_ORG_MAX_BYTES: String(ORG_MAX_BYTES),
  })
  const ok = async (path: string, input: object, as = 'ann', inOrg = 'acme') => {
    const org = as === 'ann' ? inOrg : undefined
    const { status, body } = await old.app.call(path, input, {
      token: manifest.credentials[as],
      ...(org && { org }),
    })
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
    return body
  }

  it('has the schema of a new database', async () => {
    const { url, data } = old.place
    const place = url ? { postgres: url } : { sqlite: join(data, 'trellis.db') }
    const [found, expected] = await Promise.all([schemaOf(place), newSchema(manifest.database)])
    assert.deepEqual(
      {
        lacks: expected.filter((line) => !found.includes(line)),
        has: found.filter((line) => !expected.includes(line)),
      },
      { lacks: [], has: [] },
    )
  })

  it('answers what it answered before', async () => {
    const ask = async ({ as, org, path, input, status, body }: Recorded) => {
      const cookie = as && manifest.cookies[as]
      const answer = await old.app.call(path, input, {
        token: as && manifest.credentials[as],
        ...(org && { org }),
        ...(cookie && { headers: { cookie } }),
      })
      const what = `${path} ${JSON.stringify(input)} as ${as}`
      assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`)
      // The first versions did not show agents where they are.
      if (path === 'orgs/list' && as?.includes('agent')) return
      if (status === 200) assertKept(readdressed(answer.body), readdressed(body), what)
      else assert.equal(answer.body.code, body.code, what)
    }
    // Commits are what refs lead to, and each list of them starts git.
    const asked = manifest.recorded.filter(({ path }) => inFull || path !== 'git/commits/list')
    await Promise.all(asked.map(ask))
  })

  /** This server and the one that webhooks deliver to are elsewhere now. */
  const readdressed = (body: unknown) =>
    JSON.parse(
      JSON.stringify(body)
        .replaceAll(old.receiver.url, manifest.receiver)
        .replaceAll(old.app.url, manifest.baseUrl),
    )

  it('is whole', () => {
    // To read every pack takes longest, and what is in them is the same in all these schemas, beside either database.
    return verify(old.place, ...(ranForLong ? [] : ['--quick']))
  })

  it('counts what repositories and organizations take', async () => {
    const { db } = old.app.database
    const orgs = await db.selectFrom('orgs').select(['id', 'slug', 'size_bytes']).execute()
    const repos = await db.selectFrom('repos').select(['org_id', 'size_bytes']).execute()
    const records = await db
      .selectFrom('record_collections')
      .select(['org_id', 'reserved_bytes as size_bytes'])
      .execute()
    for (const { id, slug, size_bytes } of orgs) {
      const own = [...repos, ...records].filter(({ org_id }) => org_id === id)
      assert.equal(
        size_bytes,
        own.reduce((sum, repo) => sum + repo.size_bytes, 0),
        slug,
      )
    }
  })

  it('delivers what waited in line, in order and signed', {
    skip: !knows('webhooks'),
    timeout: 300_000,
  }, async () => {
    assert.ok(old.pending.length >= 9)
    old.answerWebhooks()
    const received = await old.receiver.until(({ length }) => length >= old.pending.length)
    for (const [webhook, pending] of Map.groupBy(old.pending, (each) => each.webhook)) {
      const own = received.filter(({ path }) => path === `/${webhook}`)
      assert.deepEqual(
        own.map(({ headers }) => headers['webhook-id']),
        pending.map(({ id }) => id),
      )
      const secrets = manifest.webhooks.find(({ name }) => name === webhook)?.secrets ?? []
      assert.equal(secrets.length, webhook === 'rotated' ? 2 : 1)
      for (const secret of secrets) for (const one of own) assertSigned(secret, one)
    }
  })

  it('signs people in and lets them join', async () => {
    const signIn = (password: string) =>
      fetch(`${old.app.url}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'dan@example.com', password }),
      })
    if (inFull) assert.equal((await signIn('not the password')).status, 401)
    if (closely) assert.equal((await signIn(manifest.password)).status, 200)
    const { items } = await ok('invitations/list', { orgSlug: 'acme' })
    await ok('invitations/accept', { invitationId: items[0].id }, 'dan')
    const roles = (await ok('members/list', { orgSlug: 'acme' })).items.map(
      ({ name, role }: { name: string; role: string }) => `${name}: ${role}`,
    )
    assert.deepEqual(roles.toSorted(), ['ann: owner', 'ben: admin', 'cyn: member', 'dan: admin'])
    await ok('orgs/update', { orgSlug: 'frost', frozen: false })
  })

  it('hands out clones to whoever has an invite', { skip: !knows('agents') }, async () => {
    const reveal = (name: string) => old.app.call('invites/reveal', { id: manifest.invites[name] })
    const { body } = await reveal('open')
    const refs = manifest.repos.find(({ name }) => name === 'hello')?.refs
    assert.deepEqual(await listed(old.client('nobody'), body.cloneUrl), refs)
    for (const name of ['open', 'used up', 'revoked'])
      assert.equal((await reveal(name)).body.code, 'INVITE_UNAVAILABLE', name)
    assert.equal((await reveal('anonymous')).status, 200)
  })

  it('has an agent claimed with the code it showed', { skip: !knows('agents') }, async () => {
    const { claimToken, attemptToken, userCode } = manifest.claim ?? assert.fail()
    await ok('agents/claimComplete', { claimAttemptToken: attemptToken, userCode }, 'cyn')
    const { status, body } = await pollClaim(old.app, claimToken)
    assert.equal(status, 200, JSON.stringify(body))
    const answer = await old.app.call('orgs/list', {}, { token: body.access_token })
    assert.equal(answer.status, 200)
  })

  it('gives repositories to stock git', { skip: !knows('git') }, async () => {
    assert.ok(manifest.repos.length >= 8)
    for (const { org, name, refs } of manifest.repos.filter(({ name }) => inFull || name === 'hello')) {
      const client = old.client()
      // Every object is looked at on its way in.
      await client.run(
        '-c',
        'transfer.fsckObjects=true',
        'clone',
        '-q',
        '--mirror',
        old.remote(org, name),
        '.',
      )
      const own = Object.entries(refs).filter(([ref]) => ref !== 'HEAD' && !ref.endsWith('^{}'))
      assert.deepEqual(await localRefs(client), Object.fromEntries(own), name)
    }
  })

  it('takes commits, within rules that are newer than the repository', async () => {
    const { secret } = await ok('keys/create', { name: 'new key', scopes: ['repo:write'] })
    const asWriter = { token: secret }
    const commit = (path: string) => {
      const changes = [{ op: 'put', path, content: 'new\n' }]
      const input = { name: 'hello', branch: 'main', message: `Add ${path}`, changes }
      return old.app.call('git/commits/create', input, asWriter)
    }
    const { status, body } = await commit('new.txt')
    assert.equal(status, 200, JSON.stringify(body))
    const { items } = await ok('git/branches/list', { name: 'hello' })
    assert.equal(items.find(({ name }: { name: string }) => name === 'main').oid, body.oid)

    // Nobody could delete a default branch, and still nobody can who does not administer it.
    const deletion = { name: 'hello', branch: 'main' }
    const refused = await old.app.call('git/branches/delete', deletion, asWriter)
    assert.match(refused.body.message, /refused by the rule for the default branch/)
    await ok('rules/set', { name: 'hello', pattern: 'main', refuse: { push: { except: ['admin'] } } })
    assert.match((await commit('newer.txt')).body.message, /by the rule for main/)
    await ok('rules/delete', { name: 'hello', pattern: 'main' })
  })

  it('has its extensions in force, and promotes them again', { skip: !knows('extensions') }, async () => {
    const inTools = (path: string) => ok(path, { name: 'tools' }, 'ann', 'ann')
    const { canonicalCommitSha, items } = await inTools('extensions/list')
    assert.deepEqual([items[0].effectiveCapabilities, items[0].schemaAhead], [['repo:read'], false])
    const { oid, migrations } = await inTools('extensions/promote')
    assert.deepEqual([oid, migrations[0].kind], [canonicalCommitSha, 'noop'])
    const [webhook] = (await inTools('webhooks/list')).items
    assert.deepEqual([webhook.name, webhook.status, webhook.active], ['ci', 'active', true])
  })

  it('takes pushes from stock git', { skip: !inFull }, async () => {
    const client = old.client('writing token')
    const hello = old.remote('acme', 'hello')
    await client.run('clone', '-q', hello, '.')
    await client.commit({ 'newer.txt': 'newer\n' })
    await client.run('push', '-q', hello, 'HEAD:main', 'HEAD:refs/heads/new')
    assert.equal((await listed(client, hello))['refs/heads/new'], await client.rev('HEAD'))
    assert.match(await client.fails('push', hello, ':main'), /rule/)
    // Whoever could force a push to a default branch still can.
    await client.run('push', '-q', '-f', hello, 'HEAD~:main')
  })

  it('takes no pushes beyond quotas, nor where nobody may push', { skip: !inFull }, async () => {
    const hello = old.remote('acme', 'hello')
    const client = old.client()
    await client.run('clone', '-q', hello, '.')
    assert.match(await client.fails('push', old.remote('acme', 'locked'), 'HEAD:new'), /read-only/)
    await client.run('push', '-q', old.remote('frost', 'ice'), 'HEAD:thawed')
    const many = Array.from({ length: REPO_MAX_REFS }, (_, i) => `HEAD:refs/heads/many/${i}`)
    assert.match(await client.fails('push', hello, ...many), /refs/)
    await client.commit({ 'large.txt': randomBytes(ORG_MAX_BYTES).toString('base64') })
    assert.match(await client.fails('push', hello, 'HEAD:large'), /larger than/)
    const reader = old.client('reading token')
    await reader.run('init', '-q')
    await reader.commit({ 'new.txt': 'new\n' })
    await reader.fails('push', hello, 'HEAD:other')
  })

  // To prune starts git over and over, and what it does depends on packs, which are the same beside either database.
  it('clears away what is old and nothing else', {
    skip: !closely || (!ranForLong && manifest.database === 'postgres'),
  }, async () => {
    old.app.pass(2 * HOUR_MS)
    for (const work of BACKGROUND) await old.app.background.run(work)
    // Long enough for what refs have left, and then for the packs it was in.
    for (const ms of [60 * DAY_MS, 2 * HOUR_MS]) {
      old.app.pass(ms)
      for (const work of ['pruning', 'unlisted packs']) await old.app.background.run(work)
    }
    const { db } = old.app.database
    if (knows('webhooks')) {
      const removed = await db
        .selectFrom('webhooks')
        .select('name')
        .where('removed_at', 'is not', null)
        .execute()
      assert.deepEqual(removed, [])
    }
    if (inFull) await verify(old.place, '--quick')
    assert.equal(await unexpectedErrors(old.app.url), 0)
    assert.doesNotMatch(old.app.logged(), /"level":"error".*/)
  })
}

const BACKGROUND = [
  'abandoned scratch',
  'old throttles',
  'expired organizations',
  'expired repositories',
  'unlisted packs',
  'pruning',
  'pack survey',
  'pack scrub',
  'idle directories',
  'ended agents',
  'webhook pruning',
  'misdated deliveries',
  'forget silent workers',
]

const assertSigned = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret.replace(/^webhsec_/, '')).verify(body, headers as Record<string, string>)

async function verify(place: { data: string; url: string | undefined }, ...args: string[]): Promise<void> {
  const { code, said, told } = await admin(place, 'verify', ...args)
  assert.equal(code, 0, said + told)
}

/** What is said by an answer, and more may be said by a newer version. */
function assertKept(now: unknown, then: unknown, what: string): void {
  if (typeof then !== 'object' || then === null) assert.equal(now, then, what)
  else {
    assert.ok(typeof now === 'object' && now !== null, what)
    if (Array.isArray(then)) assert.equal((now as unknown[]).length, then.length, what)
    for (const [name, value] of Object.entries(then))
      if (!CHANGING.has(name)) assertKept(Reflect.get(now, name), value, `${what}.${name}`)
  }
}

/** When a key was last used, and a size that is counted anew. */
const CHANGING = new Set(['lastUsedAt', 'sizeBytes'])

const schemas = new Map<string, Promise<string[]>>()

function newSchema(database: 'sqlite' | 'postgres'): Promise<string[]> {
  const known = schemas.get(database) ?? readNewSchema(database)
  schemas.set(database, known)
  return known
}

async function readNewSchema(database: 'sqlite' | 'postgres'): Promise<string[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'trellis-new-'))
  if (database === 'postgres') {
    await using made = await createPostgres()
    return await schemaOf({ postgres: made.url ?? '' })
  }
  const place = { sqlite: join(temporary.path, 'trellis.db') }
  await (await openDatabase(place)).close()
  return schemaOf(place)
}

describe('fixtures', () => {
  it('are there for every schema and both databases', async () => {
    for (const { commit, inFull } of SHIPPED) {
      const kinds = fixtures
        .filter(({ manifest }) => manifest.commit === commit)
        .map(({ manifest }) => `${manifest.database} ${manifest.ended}`)
      const ends = ['stopped', ...(inFull ? ['killed'] : [])]
      assert.deepEqual(
        kinds.toSorted(),
        ends.flatMap((ended) => [`postgres ${ended}`, `sqlite ${ended}`]).toSorted(),
        commit,
      )
    }
    assert.ok(
      newest >= migrations.length - 1,
      'a schema has come that no fixture leads up to: see test/upgrades/shipped.ts',
    )
  })
})
