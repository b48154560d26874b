import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { Invitation } from '@trellis/contract'
import {
  assertFault,
  assertForbidden,
  assertInvalid,
  expectEvents,
  foundOrg,
  onEachDatabase,
  type Person,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

const WEEK_MS = 7 * 86_400_000

onEachDatabase('invitations', (create) => {
  const app = useApp(create)
  let acme: TestOrg
  let guest: Person

  before(async () => {
    acme = await foundOrg(app, 'acme')
    guest = await app.signUp('guest')
  })

  const orgSlug = 'acme'
  const as = ({ token }: Person) => app.client(token)
  const invite = (by: Person, email: string, role?: 'owner' | 'admin' | 'member') =>
    as(by).members.invite({ orgSlug, email, ...(role && { role }) })
  const listed = async () => (await as(acme.owner).invitations.list({ orgSlug })).items
  const accept = (by: Person, invitationId: string) =>
    app.call('invitations/accept', { invitationId }, { token: by.token })
  const cancel = (token: string, invitationId: string) =>
    app.call('invitations/cancel', { invitationId }, { token })
  const leave = (person: Person) => as(person).members.remove({ orgSlug, userId: person.userId })

  it('turns into a membership when the person it is for accepts it', async () => {
    const { url, mailed, ...invitation } = await expectEvents(
      app,
      ['invitation.created guest@example.com'],
      () => invite(acme.admin, 'Guest@Example.com', 'admin'),
    )
    assert.deepEqual(invitation, {
      id: invitation.id,
      orgSlug,
      orgName: 'acme',
      email: 'guest@example.com',
      role: 'admin',
      invitedBy: acme.admin.userId,
      expiresAt: invitation.createdAt + WEEK_MS,
      createdAt: invitation.createdAt,
    } satisfies Invitation)
    assert.deepEqual(await listed(), [invitation])
    assert.match(url, /\/invitations\/trl_[0-9A-Za-z]{42}$/)
    assert.equal(mailed, false)

    const { status, body } = await expectEvents(app, [`member.added ${guest.userId}`], () =>
      accept(guest, invitation.id),
    )
    assert.equal(status, 200)
    assert.deepEqual(
      [body.userId, body.email, body.role, body.organizationId],
      [guest.userId, guest.email, 'admin', (await as(guest).orgs.get({ orgSlug })).id],
    )
    assert.deepEqual(await listed(), [])
    await expectEvents(app, [], async () =>
      assertFault(await accept(guest, invitation.id), 'INVITATION_NOT_FOUND', {
        invitationId: invitation.id,
      }),
    )
    const [event] = (await app.client(acme.owner.token, orgSlug).events.list({ order: 'newest', limit: 1 }))
      .items
    assert.deepEqual(event?.payload, { role: 'admin', invitedBy: acme.admin.userId })
    await leave(guest)
  })

  it('opens for the address it was made for alone', async () => {
    const { id } = await invite(acme.owner, 'somebody@example.com')
    await expectEvents(app, [], async () => {
      for (const person of [guest, acme.owner, acme.member])
        assertFault(await accept(person, id), 'INVITATION_NOT_FOUND', { invitationId: id })
      assertFault(await accept(guest, 'inv_none'), 'INVITATION_NOT_FOUND', { invitationId: 'inv_none' })
    })
    await cancel(acme.owner.token, id)
  })

  it('is accepted by a person, never by a key', async () => {
    const { id } = await invite(acme.owner, guest.email)
    const { secret } = await as(guest).keys.create({ name: 'key' })
    assertForbidden(
      await app.call('invitations/accept', { invitationId: id }, { token: secret }),
      'scope_missing',
    )
    await cancel(acme.owner.token, id)
  })

  it('is accepted once, however often somebody tries at once', async () => {
    const { id } = await invite(acme.owner, guest.email)
    const answers = await expectEvents(app, [`member.added ${guest.userId}`], () =>
      Promise.all(Array.from({ length: 5 }, () => accept(guest, id))),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404, 404, 404])
    await leave(guest)
  })

  it('is replaced by a second one for the same address', async () => {
    const first = await invite(acme.owner, guest.email, 'member')
    const { url: _url, mailed: _mailed, ...second } = await invite(acme.admin, guest.email, 'admin')
    assert.deepEqual(await listed(), [second])
    assertFault(await accept(guest, first.id), 'INVITATION_NOT_FOUND', { invitationId: first.id })
    assert.equal((await accept(guest, second.id)).body.role, 'admin')
    await leave(guest)
  })

  it('is not for somebody who is a member already', async () => {
    await expectEvents(app, [], async () =>
      assertInvalid(
        await app.call(
          'members/invite',
          { orgSlug, email: acme.member.email.toUpperCase() },
          { token: acme.owner.token },
        ),
        ['email'],
      ),
    )
  })

  it('is made by admins; only an owner invites an owner', async () => {
    const ask = (by: Person, role: string) =>
      app.call('members/invite', { orgSlug, email: 'x@example.com', role }, { token: by.token })
    await expectEvents(app, [], async () => {
      assertForbidden(await ask(acme.admin, 'owner'), 'insufficient_role')
      assertForbidden(await ask(acme.member, 'member'), 'insufficient_role')
      assertForbidden(await ask(guest, 'member'), 'not_a_member')
      assertInvalid(await ask(acme.owner, 'king'), ['role'])
      for (const email of ['', 'x', 'x@', `${'x'.repeat(250)}@example.com`])
        assertInvalid(await app.call('members/invite', { orgSlug, email }, { token: acme.owner.token }), [
          'email',
        ])
    })
    const { id, role } = await invite(acme.owner, 'x@example.com', 'owner')
    assert.equal(role, 'owner')
    await cancel(acme.owner.token, id)
  })

  it('ends after a week', async () => {
    const { id } = await invite(acme.owner, guest.email)
    app.pass(WEEK_MS - 10_000)
    assert.deepEqual(
      (await listed()).map((invitation) => invitation.id),
      [id],
    )
    app.pass(10_000)
    assert.deepEqual(await listed(), [])
    assertFault(await accept(guest, id), 'INVITATION_NOT_FOUND', { invitationId: id })
    assertFault(await cancel(acme.owner.token, id), 'INVITATION_NOT_FOUND', { invitationId: id })
  })

  it('is withdrawn by an admin or declined by whom it is for; for others it does not exist', async () => {
    const { secret: ownersKey } = await app.client(acme.owner.token, orgSlug).keys.create({ name: 'key' })
    const { secret: elsewhere } = await as(acme.owner).keys.create({ name: 'elsewhere' })
    const { secret: reader } = await app
      .client(acme.owner.token, orgSlug)
      .keys.create({ name: 'reader', scopes: ['org:read'] })
    const { secret: guestsKey } = await as(guest).keys.create({ name: 'key' })
    const stranger = await app.signUp('stranger')
    for (const token of [acme.owner.token, acme.admin.token, ownersKey, guest.token]) {
      const { id } = await invite(acme.owner, guest.email)
      await expectEvents(app, [], async () => {
        for (const weak of [acme.member.token, stranger.token, elsewhere, reader, guestsKey])
          assertFault(await cancel(weak, id), 'INVITATION_NOT_FOUND', { invitationId: id })
      })
      await expectEvents(app, ['invitation.cancelled guest@example.com'], async () =>
        assert.deepEqual((await cancel(token, id)).body, { cancelled: true }),
      )
      assertFault(await cancel(token, id), 'INVITATION_NOT_FOUND', { invitationId: id })
      assertFault(await accept(guest, id), 'INVITATION_NOT_FOUND', { invitationId: id })
    }
  })

  it('is listed page by page to those who may invite', async () => {
    const made: string[] = []
    for (const n of [1, 2, 3]) made.push((await invite(acme.owner, `p${n}@example.com`)).id)
    made.sort()
    const first = await as(acme.admin).invitations.list({ orgSlug, limit: 2 })
    const second = await as(acme.admin).invitations.list({
      orgSlug,
      limit: 2,
      cursor: first.nextCursor ?? '',
    })
    assert.deepEqual(
      [first, second].map(({ items }) => items.map(({ id }) => id)),
      [made.slice(0, 2), made.slice(2)],
    )
    assert.equal(second.nextCursor, null)
    const list = (person: Person) => app.call('invitations/list', { orgSlug }, { token: person.token })
    assertForbidden(await list(acme.member), 'insufficient_role')
    assertForbidden(await list(guest), 'not_a_member')
    for (const id of made) await cancel(acme.owner.token, id)
  })

  it('gives a person its id once their address is verified, for anybody can type one', async () => {
    const { id } = await invite(acme.owner, guest.email)
    assert.doesNotMatch(JSON.stringify(await as(guest).invitations.list({})), new RegExp(id))
    await app.database.db
      .updateTable('users')
      .set({ email_verified: app.database.dialect === 'sqlite' ? 1 : true })
      .where('id', '=', guest.userId)
      .execute()
    assert.deepEqual(
      (await as(guest).invitations.list({})).items.map((invitation) => invitation.id),
      [id],
    )
    assert.deepEqual((await as(acme.member).invitations.list({})).items, [])
    const { secret } = await as(guest).keys.create({ name: 'weak', scopes: ['repo:admin'] })
    assertForbidden(await app.call('invitations/list', {}, { token: secret }), 'scope_missing')
  })

  it('hides from admins what would make them an owner', async () => {
    const { id } = await invite(acme.owner, 'boss@example.com', 'owner')
    const seen = (await as(acme.admin).invitations.list({ orgSlug })).items.find(
      ({ email }) => email === 'boss@example.com',
    )
    assert.equal(seen?.role, 'owner')
    assert.notEqual(seen?.id, id)
    const boss = await app.signUp('boss')
    assert.equal((await accept(boss, seen?.id ?? '')).status, 404)
    assert.equal((await accept(boss, id)).status, 200)
    await leave(boss)
  })

  it('is worth nothing when whoever made it may not give that role any more', async () => {
    const [maker, mate] = [await app.signUp('maker'), await app.signUp('mate')]
    const { id } = await invite(acme.owner, maker.email, 'admin')
    await accept(maker, id)
    const made = await invite(maker, mate.email, 'admin')
    await as(acme.owner).members.setRole({ orgSlug, userId: maker.userId, role: 'member' })
    assertFault(await accept(mate, made.id), 'INVITATION_NOT_FOUND', { invitationId: made.id })
    assert.equal((await fetch(made.url.replace(/^http:\/\/[^/]+/, app.url))).status, 404)
    await leave(maker)
    assert.equal((await accept(mate, made.id)).status, 404)
  })
})
