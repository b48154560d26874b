import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { Organization } from '@trellis/contract'
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

const QUOTA = 6

onEachDatabase('organizations', (create) => {
  const app = useApp(create, { TRELLIS_USER_MAX_ORGS: String(QUOTA) })
  let acme: TestOrg

  before(async () => {
    acme = await foundOrg(app, 'acme')
  })

  const as = ({ token }: Person) => app.client(token)
  const slugs = async (person: Person) => (await as(person).orgs.list({})).items.map(({ slug }) => slug)

  it('makes whoever founds an organization its owner', async () => {
    const { admin } = acme
    const made = await expectEvents(app, ['org.created guild'], () =>
      as(admin).orgs.create({ slug: 'guild', name: ' The Guild ' }),
    )
    assert.deepEqual(made, {
      id: made.id,
      slug: 'guild',
      name: 'The Guild',
      personal: false,
      frozen: false,
      role: 'owner',
      repoCount: 0,
      createdAt: made.createdAt,
      updatedAt: made.createdAt,
    } satisfies Organization)
    assert.match(made.id, /^org_/)
    assert.deepEqual(await as(admin).orgs.get({ orgSlug: 'guild' }), made)
    const { items } = await as(admin).members.list({ orgSlug: 'guild' })
    assert.deepEqual(
      items.map(({ userId, role }) => [userId, role]),
      [[admin.userId, 'owner']],
    )
    assert.equal((await as(admin).orgs.create({ slug: 'nameless' })).name, 'nameless')
    for (const orgSlug of ['guild', 'nameless']) await as(admin).orgs.delete({ orgSlug })
  })

  it('gives a slug once', async () => {
    await expectEvents(app, [], async () => {
      for (const slug of ['acme', acme.member.slug])
        assertFault(await app.call('orgs/create', { slug }, { token: acme.admin.token }), 'ORG_SLUG_TAKEN', {
          slug,
        })
      assertFault(
        await app.call(
          'orgs/update',
          { orgSlug: 'acme', slug: acme.member.slug },
          { token: acme.owner.token },
        ),
        'ORG_SLUG_TAKEN',
        { slug: acme.member.slug },
      )
    })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        app.call('orgs/create', { slug: 'wanted' }, { token: acme.admin.token }),
      ),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    for (const answer of answers)
      if (answer.status !== 200) assertFault(answer, 'ORG_SLUG_TAKEN', { slug: 'wanted' })
    await as(acme.admin).orgs.delete({ orgSlug: 'wanted' })
  })

  it('refuses slugs and names that nobody could use', async () => {
    const { token } = acme.owner
    for (const slug of ['', '-a', 'A', 'a.b', 'a_b', 'a'.repeat(65)]) {
      const { status, body } = await app.call('orgs/create', { slug }, { token })
      assert.deepEqual([status, body.data.issues[0].path], [400, ['slug']], slug)
    }
    for (const name of [' ', 'a\nb', 'a'.repeat(101)])
      assertInvalid(await app.call('orgs/create', { slug: 'fine', name }, { token }), ['name'])
  })

  it('lists the organizations of a person by slug, page by page, each with their role', async () => {
    const { items } = await as(acme.member).orgs.list({})
    assert.deepEqual(
      items.map(({ slug, role, personal }) => [slug, role, personal]),
      [
        ['acme', 'member', false],
        ['acme-member', 'owner', true],
      ],
    )
    const first = await as(acme.member).orgs.list({ limit: 1 })
    const second = await as(acme.member).orgs.list({ limit: 1, cursor: first.nextCursor ?? '' })
    assert.deepEqual(
      [first.items, second.items, second.nextCursor],
      [items.slice(0, 1), items.slice(1), null],
    )
    const again = await as(acme.member).orgs.list({ limit: 1, cursor: 'garbage' })
    assert.deepEqual(again.items, first.items)
  })

  it('shows a key only the organization it was made in', async () => {
    const { secret } = await app.client(acme.member.token, 'acme').keys.create({ name: 'key' })
    assert.deepEqual(
      (await app.client(secret).orgs.list({})).items.map(({ slug }) => slug),
      ['acme'],
    )
    assertForbidden(
      await app.call('orgs/get', { orgSlug: acme.member.slug }, { token: secret }),
      'not_a_member',
    )
  })

  it('is renamed by an admin; its slug and its freezing are for owners', async () => {
    const { owner, admin, member } = acme
    await expectEvents(app, ['org.updated acme'], () =>
      as(admin).orgs.update({ orgSlug: 'acme', name: 'Acme Inc' }),
    )
    await expectEvents(app, [], async () => {
      for (const changes of [{ slug: 'acme2' }, { frozen: true }, { name: 'x', frozen: false }])
        assertForbidden(
          await app.call('orgs/update', { orgSlug: 'acme', ...changes }, { token: admin.token }),
          'insufficient_role',
        )
      assertForbidden(
        await app.call('orgs/update', { orgSlug: 'acme', name: 'x' }, { token: member.token }),
        'insufficient_role',
      )
    })
    const renamed = await expectEvents(app, ['org.updated acme-two'], () =>
      as(owner).orgs.update({ orgSlug: 'acme', slug: 'acme-two', frozen: true }),
    )
    assert.deepEqual([renamed.slug, renamed.name, renamed.frozen], ['acme-two', 'Acme Inc', true])
    assert.equal((await as(owner).orgs.get({ orgSlug: 'acme' })).slug, 'acme-two')
    const back = await as(owner).orgs.update({ orgSlug: 'acme-two', slug: 'acme', frozen: false })
    assert.deepEqual([back.slug, back.frozen, back.id], ['acme', false, renamed.id])
  })

  it('changes nothing that an update does not name, not even when others are changing it', async () => {
    const { owner, admin } = acme
    for (let round = 0; round < 10; round++) {
      await as(owner).orgs.update({ orgSlug: 'acme', frozen: false })
      await Promise.all([
        as(admin).orgs.update({ orgSlug: 'acme', name: 'First' }),
        as(owner).orgs.update({ orgSlug: 'acme', frozen: true }),
        as(admin).orgs.update({ orgSlug: 'acme', name: 'Second' }),
      ])
      assert.equal((await as(owner).orgs.get({ orgSlug: 'acme' })).frozen, true)
    }
    await as(owner).orgs.update({ orgSlug: 'acme', frozen: false })
  })

  it('counts its repositories, and is not deleted while it has any', async () => {
    const { owner, admin } = acme
    await as(owner).orgs.create({ slug: 'full' })
    const inside = app.client(owner.token, 'full')
    for (const name of ['a', 'b']) await inside.repos.create({ name })
    assert.equal((await as(owner).orgs.get({ orgSlug: 'full' })).repoCount, 2)
    await expectEvents(app, [], async () => {
      assertFault(
        await app.call('orgs/delete', { orgSlug: 'full' }, { token: owner.token }),
        'ORG_HAS_REPOS',
        {
          slug: 'full',
          repoCount: 2,
        },
      )
      assertForbidden(
        await app.call('orgs/delete', { orgSlug: 'full' }, { token: admin.token }),
        'not_a_member',
      )
      assertForbidden(
        await app.call('orgs/delete', { orgSlug: 'acme' }, { token: admin.token }),
        'insufficient_role',
      )
    })
    for (const name of ['a', 'b']) await inside.repos.delete({ name })
    const { secret } = await inside.keys.create({ name: 'ends with it' })
    await as(owner).members.invite({ orgSlug: 'full', email: 'guest@example.com' })
    await expectEvents(app, ['org.deleted full'], () => as(owner).orgs.delete({ orgSlug: 'full' }))
    assertForbidden(await app.call('orgs/get', { orgSlug: 'full' }, { token: owner.token }), 'not_a_member')
    assert.equal((await app.call('repos/list', {}, { token: secret })).status, 401)
    assert.equal((await as(owner).orgs.create({ slug: 'full' })).repoCount, 0)
    await as(owner).orgs.delete({ orgSlug: 'full' })
  })

  it('keeps the last organization somebody owns', async () => {
    const { member } = acme
    await expectEvents(app, [], async () =>
      assertFault(
        await app.call('orgs/delete', { orgSlug: member.slug }, { token: member.token }),
        'ORG_LAST_OWNED',
        { slug: member.slug },
      ),
    )
    await as(member).orgs.create({ slug: 'spare' })
    await as(member).orgs.delete({ orgSlug: member.slug })
    // Without a personal one, the organization they joined first is where they act.
    assert.deepEqual(await slugs(member), ['acme', 'spare'])
    await as(member).repos.create({ name: 'at-work' })
    assert.equal((await as(acme.owner).orgs.get({ orgSlug: 'acme' })).repoCount, 1)
    assertFault(
      await app.call('orgs/delete', { orgSlug: 'spare' }, { token: member.token }),
      'ORG_LAST_OWNED',
      {
        slug: 'spare',
      },
    )
  })

  it('keeps the last organization somebody owns even when they delete all at once', async () => {
    const { admin } = acme
    for (let round = 0; round < 5; round++) {
      await as(admin).orgs.create({ slug: 'brief' })
      const owned = [admin.slug, 'brief']
      const answers = await Promise.all(
        owned.map((orgSlug) => app.call('orgs/delete', { orgSlug }, { token: admin.token })),
      )
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
      const [left] = (await slugs(admin)).filter((slug) => owned.includes(slug))
      if (left === 'brief') await as(admin).orgs.update({ orgSlug: 'brief', slug: admin.slug })
    }
  })

  it('founds as many as the quota allows and not one more, however many ask at once', async () => {
    const { token } = await app.signUp('founder')
    const answers = await Promise.all(
      Array.from({ length: QUOTA + 6 }, (_, n) =>
        app.call('orgs/create', { slug: `founded-${n}` }, { token }),
      ),
    )
    // The personal organization is one of them.
    assert.equal(answers.filter(({ status }) => status === 200).length, QUOTA - 1)
    for (const answer of answers)
      if (answer.status !== 200)
        assertFault(answer, 'QUOTA_EXCEEDED', { scope: 'org', limit: QUOTA, observed: QUOTA })
  })
})
