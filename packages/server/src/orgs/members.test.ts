import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { Member } from '@trellis/contract'
import {
  assertForbidden,
  assertInvalid,
  assertNotThere,
  assertUnauthenticated,
  expectEvents,
  foundOrg,
  join,
  onEachDatabase,
  type Person,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

const LAST_OWNER =
  'The last owner of an organization stays its owner: make somebody else an owner first, with members/makeOwner'

onEachDatabase('members', (create) => {
  const app = useApp(create)
  let acme: TestOrg
  let guest: Person

  before(async () => {
    acme = await foundOrg(app, 'acme')
    guest = await app.signUp('guest')
  })

  const orgSlug = 'acme'
  const as = ({ token }: Person) => app.client(token)
  const setRole = (by: Person, { userId }: Person, role: string) =>
    app.call('members/setRole', { orgSlug, userId, role }, { token: by.token })
  const remove = (by: Person, { userId }: Person) =>
    app.call('members/remove', { orgSlug, userId }, { token: by.token })
  const roles = async () =>
    Object.fromEntries(
      (await as(acme.owner).members.list({ orgSlug })).items.map(({ name, role }) => [name, role]),
    )

  it('lists the members in the order they came, page by page', async () => {
    const { items } = await as(acme.member).members.list({ orgSlug })
    const { owner, admin, member } = acme
    const { id } = await as(owner).orgs.get({ orgSlug })
    assert.deepEqual(
      items,
      (
        [
          [owner, 'owner'],
          [admin, 'admin'],
          [member, 'member'],
        ] as const
      ).map(
        ([{ userId, email }, role], n): Member => ({
          id: items[n]?.id ?? '',
          organizationId: id,
          userId,
          email,
          name: `acme-${role}`,
          role,
          createdAt: items[n]?.createdAt ?? 0,
        }),
      ),
    )
    const first = await as(owner).members.list({ orgSlug, limit: 2 })
    const second = await as(owner).members.list({ orgSlug, limit: 2, cursor: first.nextCursor ?? '' })
    assert.deepEqual([...first.items, ...second.items], items)
    assert.equal(second.nextCursor, null)
    const again = await as(owner).members.list({ orgSlug, limit: 1, cursor: 'garbage' })
    assert.deepEqual(again.items, items.slice(0, 1))
  })

  it('changes the role of a member', async () => {
    const { owner, admin, member } = acme
    const changed = await expectEvents(app, [`member.role.changed ${member.userId}`], () =>
      setRole(admin, member, 'admin'),
    )
    assert.deepEqual([changed.status, changed.body.userId, changed.body.role], [200, member.userId, 'admin'])
    await expectEvents(app, [], () => setRole(owner, member, 'admin'))
    const [event] = (await app.client(owner.token, orgSlug).events.list({ order: 'newest', limit: 1 })).items
    assert.deepEqual([event?.actor.id, event?.payload], [admin.userId, { from: 'member', to: 'admin' }])

    // What a role allows, it allows from then on and for keys that were there before.
    const { secret } = await app.client(member.token, orgSlug).keys.create({ name: 'key' })
    assert.equal((await app.call('invitations/list', { orgSlug }, { token: secret })).status, 200)
    assert.equal((await setRole(owner, member, 'member')).body.role, 'member')
    assertForbidden(await app.call('invitations/list', { orgSlug }, { token: secret }), 'insufficient_role')
  })

  it('gives nobody the role of an owner', async () => {
    assertInvalid(await setRole(acme.owner, acme.member, 'owner'), ['role'])
  })

  it('knows only members', async () => {
    await expectEvents(app, [], async () => {
      assertNotThere(await setRole(acme.owner, guest, 'member'), 'MEMBER_NOT_FOUND')
      assertNotThere(await remove(acme.owner, guest), 'MEMBER_NOT_FOUND')
      for (const work of [
        setRole(guest, acme.member, 'admin'),
        remove(guest, acme.member),
        remove(guest, guest),
      ])
        assertForbidden(await work, 'not_a_member')
      assertForbidden(await app.call('members/list', { orgSlug }, { token: guest.token }), 'not_a_member')
    })
  })

  it('lets nobody but an admin or an owner touch others', async () => {
    const { owner, admin, member } = acme
    const { secret: elsewhere } = await as(owner).keys.create({ name: 'elsewhere' })
    await expectEvents(app, [], async () => {
      for (const work of [
        setRole(member, member, 'admin'),
        setRole(member, admin, 'member'),
        remove(member, admin),
      ])
        assertForbidden(await work, 'insufficient_role')
      for (const path of ['members/setRole', 'members/remove'])
        assertForbidden(
          await app.call(path, { orgSlug, userId: member.userId, role: 'admin' }, { token: elsewhere }),
          'not_a_member',
        )
    })
  })

  it('lets nobody but an owner touch an owner', async () => {
    const { owner, admin } = acme
    await join(app, acme, guest, 'owner')
    await expectEvents(app, [], async () => {
      for (const target of [owner, guest]) {
        assertForbidden(await setRole(admin, target, 'member'), 'insufficient_role')
        assertForbidden(await remove(admin, target), 'insufficient_role')
      }
    })
    assert.equal((await setRole(owner, guest, 'admin')).body.role, 'admin')
    assert.deepEqual((await remove(owner, guest)).body, { removed: true })
  })

  it('lets owners make owners, of members alone', async () => {
    const { owner, admin, member } = acme
    const makeOwner = (by: Person, { userId }: Person) =>
      app.call('members/makeOwner', { orgSlug, userId }, { token: by.token })
    await expectEvents(app, [], async () => {
      for (const other of [admin, member]) assertForbidden(await makeOwner(other, other), 'insufficient_role')
      assertForbidden(await makeOwner(guest, guest), 'not_a_member')
      assertNotThere(await makeOwner(owner, guest), 'MEMBER_NOT_FOUND')
      assert.equal((await makeOwner(owner, owner)).body.role, 'owner')
    })
    const made = await expectEvents(app, [`member.role.changed ${member.userId}`], () =>
      makeOwner(owner, member),
    )
    assert.deepEqual([made.status, made.body.userId, made.body.role], [200, member.userId, 'owner'])
    // Now the first is not the last any more.
    assert.equal((await setRole(member, owner, 'admin')).body.role, 'admin')
    assert.equal((await makeOwner(member, owner)).body.role, 'owner')
    assert.equal((await setRole(owner, member, 'member')).body.role, 'member')
  })

  it('keeps the last owner', async () => {
    const { owner } = acme
    await expectEvents(app, [], async () => {
      assertForbidden(await setRole(owner, owner, 'admin'), 'insufficient_role', LAST_OWNER)
      assertForbidden(await remove(owner, owner), 'insufficient_role', LAST_OWNER)
    })
    assert.equal((await roles())['acme-owner'], 'owner')
  })

  it('leaves one owner when two demote each other at once', async () => {
    const { owner } = acme
    for (let round = 0; round < 5; round++) {
      await join(app, acme, guest, 'owner')
      const answers = await Promise.all([setRole(owner, guest, 'member'), setRole(guest, owner, 'member')])
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403])
      const now = await app.call('members/list', { orgSlug }, { token: owner.token })
      const owners = now.body.items.filter(({ role }: Member) => role === 'owner')
      assert.equal(owners.length, 1)
      // Whoever is left hands the organization back.
      const left = owners[0].userId === owner.userId ? owner : guest
      if (left === guest) {
        await remove(guest, owner)
        await join(app, { slug: orgSlug, owner: guest }, owner, 'owner')
      }
      await remove(owner, guest)
    }
  })

  it('leaves one owner when two remove each other, or leave, at once', async () => {
    const { owner } = acme
    await join(app, acme, guest, 'owner')
    const answers = await Promise.all([remove(owner, owner), remove(guest, guest), remove(owner, guest)])
    assert.equal(answers.filter(({ body }) => body.removed === true).length, 1)
    const left =
      (await app.call('members/list', { orgSlug }, { token: owner.token })).status === 200 ? owner : guest
    const { items } = await as(left).members.list({ orgSlug })
    assert.equal(items.filter(({ role }) => role === 'owner').length, 1)
    if (left === guest) {
      await join(app, { slug: orgSlug, owner: guest }, owner, 'owner')
      await remove(owner, guest)
    }
  })

  it('lets anybody leave', async () => {
    await join(app, acme, guest, 'member')
    await expectEvents(app, [`member.removed ${guest.userId}`], async () =>
      assert.deepEqual((await remove(guest, guest)).body, { removed: true }),
    )
    assertForbidden(await app.call('orgs/get', { orgSlug }, { token: guest.token }), 'not_a_member')
  })

  it('ends the keys and tokens of somebody who is removed, at once and for good', async () => {
    await join(app, acme, guest, 'admin')
    const inAcme = app.client(guest.token, orgSlug)
    await inAcme.repos.create({ name: 'shared' })
    const key = await inAcme.keys.create({ name: 'in acme' })
    const token = await inAcme.tokens.create({ name: 'shared', scope: 'write' })
    const atHome = await as(guest).keys.create({ name: 'at home' })
    const others = await app.client(acme.owner.token, orgSlug).tokens.create({ name: 'shared' })
    const status = async (secret: string) => (await app.call('repos/list', {}, { token: secret })).status

    await expectEvents(
      app,
      [`key.revoked ${key.id}`, `member.removed ${guest.userId}`, `token.revoked ${token.id}`],
      () => remove(acme.owner, guest),
    )
    assert.deepEqual([await status(key.secret), await status(token.secret)], [401, 401])
    assert.equal((await as(guest).tokens.validate({ token: token.secret })).valid, false)
    assert.deepEqual([await status(atHome.secret), await status(others.secret)], [200, 200])
    assertForbidden(await app.call('repos/list', {}, acme.as(guest)), 'not_a_member')

    // Who comes back gets nothing back.
    await join(app, acme, guest, 'admin')
    assert.deepEqual([await status(key.secret), await status(token.secret)], [401, 401])
    assert.deepEqual((await inAcme.keys.list({})).items, [])
    await remove(acme.owner, guest)
  })

  it('refuses a listing in an organization that is not there', async () => {
    assertForbidden(
      await app.call('members/list', { orgSlug: 'nowhere' }, { token: guest.token }),
      'not_a_member',
    )
    assertUnauthenticated(await app.call('members/list', { orgSlug }))
  })
})
