import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '../db/database.ts'
import { firstTeam } from '../db/migrations/0015-first-team.ts'
import { migrations } from '../db/migrations/index.ts'
import { newId } from '../platform/ids.ts'
import { createStartedEnding } from '../runs/ending.ts'
import type { Database, Schema } from '../schema.ts'
import { mintSecret } from '../secrets/minting.ts'
import {
  createVisitor,
  onEachDatabase,
  startTestApp,
  type TestApp,
  type TestDatabase,
  useApp,
} from '../testing/index.ts'
import { createOwnerAccess } from './owner-access.ts'

const PASSWORD = 'correct horse battery'
const DAY_MS = 86_400_000

const ownerAccessOf = (app: TestApp) =>
  createOwnerAccess({
    database: app.database,
    clock: app.now,
    newId,
    credentialEnding: createStartedEnding({ database: app.database, clock: app.now, onMarked() {} }),
    limits: { orgsPerUser: 10, provisionalMs: DAY_MS, keysPerUser: 10 },
  })

const status = async (app: TestApp, token: string, path = 'credentials/self', org?: string) =>
  (await app.call(path, {}, { token, ...(org && { org }) })).status

const usersOf = (app: TestApp) => app.database.db.selectFrom('users').select(['id', 'email']).execute()

onEachDatabase('the owner of the first start', (create) => {
  const app = useApp(create)
  const newLink = async () => `/enter/${await ownerAccessOf(app).newLink()}`
  const signIn = (email: string, password: string) =>
    fetch(`${app.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
  const whoIs = async (visitor: ReturnType<typeof createVisitor>) => {
    const cookie = [...visitor.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    return (await app.call('credentials/self', {}, { headers: { cookie } })).body
  }

  it('has a key that follows them, so that what they found is in reach', async () => {
    const owner = app.client(app.ownerKey)
    assert.deepEqual((await owner.credentials.self()).scopes, ['*', 'account'])
    await owner.orgs.create({ slug: 'founded' })
    assert.equal((await app.client(app.ownerKey, 'founded').repos.create({ name: 'first' })).name, 'first')
    assert.equal((await usersOf(app))[0]?.email, 'owner@trellis.local')
  })

  it('opens a link that sets address and password and signs in, once', async () => {
    const path = new URL(app.ownerLink ?? '').pathname
    const visitor = createVisitor(app)
    // Programs that look at links use nothing up.
    await createVisitor(app).get(path)
    const page = await visitor.get(path)
    assert.equal(page.status, 200)
    assert.match(page.text, /value="owner@trellis.local"/)
    assert.doesNotMatch(page.text, /<script>/)
    assert.equal(visitor.jar.has('trellis.session_token'), false)

    const done = await visitor.post(page, path, { email: 'Ana@Example.com', password: PASSWORD })
    assert.deepEqual([done.status, done.location], [303, '/'], done.text)
    const self = await whoIs(visitor)
    assert.deepEqual([self.kind, self.role, self.organization.slug], ['session', 'owner', 'owner'])
    assert.equal((await signIn('ana@example.com', PASSWORD)).status, 200)

    for (const again of [
      await visitor.get(path),
      await visitor.post(page, path, { email: 'eve@example.com', password: PASSWORD }),
    ])
      assert.deepEqual([again.status, /over/.test(again.text)], [404, true])
    assert.equal((await usersOf(app))[0]?.email, 'ana@example.com')
  })

  it('is let in once by a link, however many come with it at once', async () => {
    const path = await newLink()
    const visitors = await Promise.all(
      Array.from({ length: 4 }, async (_, n) => {
        const visitor = createVisitor(app)
        const page = await visitor.get(path)
        return () => visitor.post(page, path, { email: 'ana@example.com', password: `${PASSWORD} ${n}` })
      }),
    )
    const answers = await Promise.all(visitors.map((post) => post()))
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [303, 404, 404, 404])
  })

  it('keeps a link that was filled in wrongly, and tells what was wrong', async () => {
    const other = await app.signUp('other')
    const path = await newLink()
    const visitor = createVisitor(app)
    const page = await visitor.get(path)
    for (const [fields, problem] of [
      [{ email: 'nonsense', password: PASSWORD }, /not an email address/],
      [{ email: 'ana@example.com', password: 'short' }, /10 to 256 characters/],
      [{ email: other.email, password: PASSWORD }, /Another account has this address/],
      [{ email: '"><script>@x', password: PASSWORD }, /&#34;&#62;&#60;script/],
    ] as const) {
      const answer = await visitor.post(page, path, fields)
      assert.equal(answer.status, 400)
      assert.match(answer.text, problem)
    }
    assert.equal(
      (await visitor.post(page, path, { email: 'ana@example.com', password: PASSWORD })).status,
      303,
    )
  })

  it('is not signed in by a form of another site, nor by a link that is guessed or over', async () => {
    const path = await newLink()
    const visitor = createVisitor(app)
    const page = await visitor.get(path)
    const fields = { email: 'eve@example.com', password: PASSWORD }
    const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    assert.equal((await visitor.post(page, path, fields, elsewhere)).status, 403)
    assert.equal((await createVisitor(app).post(page, path, fields)).status, 403)
    for (const wrong of [
      '/enter/',
      '/enter/x',
      `/enter/${mintSecret('trl')}`,
      `${path}x`,
      `/enter/${app.ownerKey}`,
    ])
      assert.equal((await visitor.get(wrong)).status, 404, wrong)

    const newer = await newLink()
    assert.equal((await visitor.post(page, path, fields)).status, 404)
    app.pass(DAY_MS - 60_000)
    assert.equal((await visitor.get(newer)).status, 200)
    app.pass(60_000)
    assert.equal((await visitor.get(newer)).status, 404)
    assert.equal(
      (await usersOf(app)).some(({ email }) => email === 'eve@example.com'),
      false,
    )
  })

  it('is signed out everywhere by a link, and keeps nothing of it in the database or the log', async () => {
    await signIn('ana@example.com', PASSWORD)
    const { token } = (await (await signIn('ana@example.com', PASSWORD)).json()) as { token: string }
    assert.equal(await status(app, token), 200)
    const path = await newLink()
    const rows = JSON.stringify(await app.database.db.selectFrom('entry_links').selectAll().execute())
    const visitor = createVisitor(app)
    const page = await visitor.get(path)
    await visitor.post(page, path, { email: 'ana@example.com', password: `${PASSWORD}!` })
    assert.equal(await status(app, token), 401)
    const secret = path.slice('/enter/'.length)
    assert.ok(!rows.includes(secret) && !app.logged().includes(secret))
  })

  it('is given another key in place of the one that was lost', async () => {
    const key = await ownerAccessOf(app).newKey()
    assert.equal(await status(app, key), 200)
    assert.equal(await status(app, app.ownerKey ?? ''), 401)
    assert.deepEqual((await app.client(key).credentials.self()).scopes, ['*', 'account'])
  })
})

onEachDatabase('the owner of a server from before there were links', (create) => {
  it('is the first who was there, and their key follows them', async () => {
    await using store = await create('empty')
    const at = new Date(1_700_000_000_000).toISOString()
    {
      const before = migrations.slice(0, migrations.indexOf(firstTeam))
      await using old = closing(await openDatabase<Schema>(store.location, { steps: before }))
      const who = ['usr_later', 'usr_first', 'usr_third']
      for (const [n, id] of who.entries()) {
        const created = new Date(Date.parse(at) + (id === 'usr_first' ? 0 : n + 1)).toISOString()
        await old.db
          .insertInto('users')
          .values({
            ...{ id, name: id, email: `${id}@example.com`, email_verified: sql<number>`true`, image: null },
            ...{ created_at: created, updated_at: created },
          })
          .execute()
        await sql`insert into orgs (id, slug, name, frozen, repo_count, kind, created_at, updated_at)
          values (${`org-${id}`}, ${`org-${n}`}, 'x', 0, 0, 'team', 0, 0)`.execute(old.db)
        for (const name of ['First start', 'another'])
          await old.db
            .insertInto('api_keys')
            .values({
              ...{ id: `${id} ${name}`, org_id: `org-${id}`, user_id: id, name, prefix: 'x', scopes: '*' },
              ...{
                secret_hash: `${id} ${name}`,
                enabled: 1,
                expires_at: null,
                last_used_at: null,
                created_at: 0,
              },
            })
            .execute()
      }
    }
    await using now = closing(await openDatabase<Schema>(store.location))
    assert.deepEqual(await now.db.selectFrom('first_owner').selectAll().execute(), [
      { user_id: 'usr_first', key_id: 'usr_first First start' },
    ])
    const followers = now.db.selectFrom('api_keys').select('id').where('scopes', '=', '* account')
    assert.deepEqual(await followers.execute(), [{ id: 'usr_first First start' }])
  })
})

const closing = (database: Database) => ({ ...database, [Symbol.asyncDispose]: () => database.close() })

onEachDatabase('the key that the operator chose', (create) => {
  const onSameData = async (
    work: (start: (key?: string) => Promise<TestApp>, data: string) => Promise<void>,
  ) => {
    await using data = await mkdtempDisposable(join(tmpdir(), 'trellis-owner-'))
    await using database: TestDatabase = await create()
    await work(
      (key) => startTestApp(database, { TRELLIS_DATA: data.path, ...(key && { TRELLIS_OWNER_KEY: key }) }),
      data.path,
    )
  }

  it('is the one that works after every start, in place of the one before', () =>
    onSameData(async (start, data) => {
      let made = ''
      {
        await using first = await start()
        made = first.ownerKey ?? ''
        assert.equal(await status(first, made), 200)
      }
      {
        await using second = await start('chosen-by-the-operator')
        assert.deepEqual([second.ownerKey, second.ownerLink], [undefined, undefined])
        assert.equal(await status(second, 'chosen-by-the-operator'), 200)
        assert.equal(await status(second, made), 401)
        assert.ok(!(await readdir(data)).includes('owner.key'))
        await second.client('chosen-by-the-operator').orgs.create({ slug: 'founded' })
        assert.equal(await status(second, 'chosen-by-the-operator', 'repos/list', 'founded'), 200)
      }
      {
        await using third = await start('another-of-the-operator')
        assert.equal(await status(third, 'another-of-the-operator'), 200)
        assert.equal(await status(third, 'chosen-by-the-operator'), 401)
        const { items } = await third.client('another-of-the-operator').keys.list()
        assert.equal(items.length, 1)
        await third
          .client('another-of-the-operator')
          .keys.update({ id: items[0]?.id ?? '', scopes: ['repo:read'] })
        await writeFile(join(data, 'owner.key'), 'kept by somebody')
      }
      {
        // Whatever was done to it meanwhile.
        await using fourth = await start('another-of-the-operator')
        const { scopes } = await fourth.client('another-of-the-operator').credentials.self()
        assert.deepEqual(scopes, ['*', 'account'])
        const events = await fourth.database.db.selectFrom('events').select('id').execute()
        await fourth.stop()
        await using fifth = await start('another-of-the-operator')
        assert.equal(
          (await fifth.database.db.selectFrom('events').select('id').execute()).length,
          events.length,
        )
      }
    }))

  it('is not taken from somebody else', () =>
    onSameData(async (start) => {
      let secret = ''
      {
        await using first = await start()
        const eve = await first.signUp('eve')
        secret = (await first.client(eve.token).keys.create({ name: 'hers' })).secret
      }
      await assert.rejects(start(secret), /TRELLIS_OWNER_KEY is an API key of somebody else/)
    }))
})
