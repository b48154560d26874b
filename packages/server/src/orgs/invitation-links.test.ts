import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { mintSecret } from '../secrets/minting.ts'
import {
  assertFault,
  createVisitor,
  expectEvents,
  onEachDatabase,
  type Person,
  sessionCookieOf,
  startTestApp,
  useApp,
} from '../testing/index.ts'

const PASSWORD = 'correct horse battery'
const WEEK_MS = 7 * 86_400_000

onEachDatabase('the link of an invitation', (create) => {
  const app = useApp(create, { TRELLIS_SIGN_UP: 'invited' })
  const owner = () => app.client(app.ownerKey)

  async function invite(email: string, role: 'member' | 'admin' | 'owner' = 'member') {
    const made = await owner().members.invite({ orgSlug: 'owner', email, role })
    assert.ok(made.url.startsWith(`${app.url}/invitations/trl_`))
    assert.equal(made.mailed, false)
    return { ...made, path: new URL(made.url).pathname }
  }
  const rolesOf = async () =>
    Object.fromEntries(
      (await owner().members.list({ orgSlug: 'owner' })).items.map(({ email, role }) => [email, role]),
    )
  const signUpForm = { action: 'sign-up', name: 'Guest', password: PASSWORD }

  it('signs up and accepts in one step, where sign-up is for the invited alone', async () => {
    const { path, url } = await invite('Guest@Example.com', 'admin')
    const visitor = createVisitor(app)
    // Programs that look at links use nothing up.
    await createVisitor(app).get(path)
    const page = await visitor.get(path)
    assert.equal(page.status, 200)
    assert.match(page.text, /guest@example\.com/)
    assert.doesNotMatch(page.text, /<script>|Sign in as/)
    assert.equal((await visitor.post(page, path, signUpForm)).status, 303)
    assert.equal((await rolesOf())['guest@example.com'], 'admin')
    assert.equal((await visitor.get('/login?return_to=%2Freference')).location, '/reference')
    const secret = url.slice(url.lastIndexOf('/') + 1)
    const rows = JSON.stringify(await app.database.db.selectFrom('invitations').selectAll().execute())
    assert.ok(!rows.includes(secret) && !app.logged().includes(secret))

    // Whoever accepted it is told so; it is over for everybody else.
    for (const again of [await visitor.get(path), await visitor.post(page, path, signUpForm)])
      assert.deepEqual([again.status, /<h1>You are in Owner/.test(again.text)], [200, true])
    const other = createVisitor(app)
    const over = await other.get(path)
    assert.deepEqual([over.status, /is over/.test(over.text)], [404, true])
    assert.ok(over.text.includes(`/login?return_to=${encodeURIComponent(path)}`))
    assert.equal((await other.post(page, path, signUpForm)).status, 403)
  })

  it('takes the address from the invitation, whatever a form says', async () => {
    const { path } = await invite('named@example.com')
    const visitor = createVisitor(app)
    const page = await visitor.get(path)
    const fields = { ...signUpForm, email: 'eve@example.com', role: 'owner' }
    assert.equal((await visitor.post(page, path, fields)).status, 303)
    const roles = await rolesOf()
    assert.deepEqual([roles['named@example.com'], roles['eve@example.com']], ['member', undefined])
  })

  it('tells what is wrong with a form, and is not used up by it', async () => {
    const { path } = await invite('careful@example.com')
    const visitor = createVisitor(app)
    const page = await visitor.get(path)
    const wrong = await visitor.post(page, path, { ...signUpForm, password: 'short' })
    assert.deepEqual([wrong.status, /role="alert"/.test(wrong.text)], [400, true])
    assert.equal((await visitor.post(page, path, signUpForm)).status, 303)
  })

  it('lets somebody with an account join after signing in, and offers no second account', async () => {
    const { path, id } = await invite('twice@example.com')
    const visitor = createVisitor(app)
    await visitor.post(await visitor.get(path), path, signUpForm)
    const { userId } = (await owner().members.list({ orgSlug: 'owner' })).items.find(
      ({ email }) => email === 'twice@example.com',
    ) as { userId: string }
    await owner().members.remove({ orgSlug: 'owner', userId })

    const second = await invite('twice@example.com')
    assert.notEqual(second.id, id)
    const stranger = await createVisitor(app).get(second.path)
    assert.doesNotMatch(stranger.text, /Create an account/)
    assert.match(stranger.text, /href="\/login\?switch=1&#38;return_to=%2Finvitations%2Ftrl_/)
    const page = await visitor.get(second.path)
    assert.match(page.text, /<button>Join/)
    const joined = await expectEvents(app, [`member.added ${userId}`], () =>
      visitor.post(page, second.path, { action: 'join' }),
    )
    assert.equal(joined.status, 303)
  })

  it('does nothing for somebody signed in with another address', async () => {
    const { path } = await invite('wanted@example.com', 'owner')
    const visitor = createVisitor(app, await sessionCookieOf(app, 'twice@example.com'))
    const page = await visitor.get(path)
    assert.match(page.text, /signed in as twice@example\.com/)
    const answer = await visitor.post(page, path, { action: 'join' })
    assert.equal(answer.status, 400)
    const roles = await rolesOf()
    assert.deepEqual([roles['wanted@example.com'], roles['twice@example.com']], [undefined, 'member'])
  })

  it('cannot be sent from another site, guessed, or used when it is over', async () => {
    const first = await invite('late@example.com')
    const visitor = createVisitor(app)
    const page = await visitor.get(first.path)
    const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    assert.equal((await visitor.post(page, first.path, signUpForm, elsewhere)).status, 403)
    assert.equal((await createVisitor(app).post(page, first.path, signUpForm)).status, 403)
    for (const wrong of ['x', mintSecret('trl'), first.id, `${first.path.slice('/invitations/'.length)}x`])
      assert.equal((await visitor.get(`/invitations/${wrong}`)).status, 404, wrong)

    // A second invitation replaces the first, with its link.
    const second = await invite('late@example.com')
    assert.equal((await visitor.post(page, first.path, signUpForm)).status, 404)
    await owner().invitations.cancel({ invitationId: second.id })
    assert.equal((await visitor.get(second.path)).status, 404)
    const third = await invite('late@example.com')
    app.pass(WEEK_MS)
    assert.equal((await visitor.post(page, third.path, signUpForm)).status, 404)
    assert.equal((await rolesOf())['late@example.com'], undefined)
  })

  it('shows a page without harm whatever an organization is called', async () => {
    await owner().orgs.create({ slug: 'loud', name: '<script>alert(1)</script>' })
    const { url } = await owner().members.invite({ orgSlug: 'loud', email: 'hurt@example.com' })
    assert.doesNotMatch((await createVisitor(app).get(new URL(url).pathname)).text, /<script>/)
  })
})

onEachDatabase('an invitation', (create) => {
  const app = useApp(create)
  let bob: Person

  before(async () => {
    bob = await app.signUp('bob')
  })

  it('is seen by whoever signs in with its address, and opened once they have shown that it is theirs', async () => {
    const owner = app.client(app.ownerKey)
    await owner.orgs.create({ slug: 'other' })
    const made = []
    for (const orgSlug of ['owner', 'other'])
      made.push(await owner.members.invite({ orgSlug, email: bob.email }))
    const mine = (page: object) => app.client(bob.token).invitations.list(page)
    const first = await mine({ limit: 1 })
    const second = await mine({ limit: 1, cursor: first.nextCursor ?? '' })
    assert.equal(second.nextCursor, null)
    const items = [...first.items, ...second.items]
    assert.deepEqual(
      items.map(({ orgSlug, role, email }) => [orgSlug, role, email]),
      made.map(({ orgSlug, role, email }) => [orgSlug, role, email]),
    )
    // Anybody can sign up with an address: what is seen of it does not open it.
    const told = JSON.stringify(
      [first, second].map(({ nextCursor }) => Buffer.from(nextCursor ?? '', 'base64').toString()),
    )
    for (const { id, url } of made)
      assert.ok(
        !JSON.stringify(items).includes(id) && !told.includes(id) && !JSON.stringify(items).includes(url),
      )
    for (const operation of ['accept', 'cancel'])
      assertFault(
        await app.call(`invitations/${operation}`, { invitationId: items[0]?.id }, { token: bob.token }),
        'INVITATION_NOT_FOUND',
        { invitationId: items[0]?.id ?? '' },
        'Your address is not verified: open the link of the invitation to accept or decline it',
      )

    await app.database.db
      .updateTable('users')
      .set({ email_verified: app.database.dialect === 'sqlite' ? 1 : true })
      .where('id', '=', bob.userId)
      .execute()
    const [known] = (await mine({})).items
    assert.equal(known?.id, made[0]?.id)
    await app.client(bob.token).invitations.accept({ invitationId: known?.id ?? '' })
    assert.equal((await app.client(bob.token).orgs.get({ orgSlug: 'owner' })).role, 'member')
  })
})

onEachDatabase('the link of an invitation, where sign-up is closed', (create) => {
  it('makes no accounts', async () => {
    await using database = await create()
    await using app = await startTestApp(database, { TRELLIS_SIGN_UP: 'closed' })
    const { url } = await app
      .client(app.ownerKey)
      .members.invite({ orgSlug: 'owner', email: 'guest@example.com' })
    const visitor = createVisitor(app)
    const page = await visitor.get(new URL(url).pathname)
    assert.match(page.text, /Nobody can sign up/)
    // The page has no form for it; one of another page will do for whoever tries.
    const answer = await visitor.post(await visitor.get('/login'), new URL(url).pathname, signUpFields)
    assert.equal(answer.status, 400)
    assert.equal((await app.database.db.selectFrom('users').select('id').execute()).length, 1)
  })
})

const signUpFields = { action: 'sign-up', name: 'Guest', password: PASSWORD }
