import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { Repo } from '@trellis/contract'
import {
  assertFault,
  assertInvalid,
  expectEvents,
  onEachDatabase,
  type Person,
  useApp,
} from '../testing/index.ts'

const QUOTA = 260

onEachDatabase('repositories', (create) => {
  const app = useApp(create, { TRELLIS_ORG_MAX_REPOS: String(QUOTA) })
  let token: string
  let founder: Person

  before(async () => {
    token = app.ownerKey ?? ''
    founder = await app.signUp('founder')
  })

  const client = () => app.client(token)
  const names = async () => (await client().repos.list({ limit: 100 })).items.map(({ name }) => name)

  /** An organization in which nothing is yet, and a key for it. */
  let founded = 0
  async function newOrg(): Promise<{ token: string; slug: string }> {
    const slug = `org-${++founded}`
    await app.client(founder.token).orgs.create({ slug })
    return { slug, token: (await app.client(founder.token, slug).keys.create({ name: 'key' })).secret }
  }

  it('creates a repository and lists it', async () => {
    const made = await client().repos.create({ name: 'hello' })
    assert.deepEqual(made, {
      name: 'hello',
      ownerId: made.ownerId,
      defaultBranch: 'main',
      artifactId: made.artifactId,
      remote: `${app.url}/git/owner/hello.git`,
      readOnly: false,
      canWrite: true,
      canAdmin: true,
      sizeBytes: 0,
      lastPushAt: null,
      source: null,
      createdAt: made.createdAt,
      updatedAt: made.createdAt,
    } satisfies Repo)
    assert.match(made.ownerId, /^org_/)
    assert.match(made.artifactId ?? '', /^art_/)
    assert.deepEqual((await client().repos.list({})).items, [made])
    assert.deepEqual(await client().repos.get({ name: 'hello' }), made)
  })

  it('takes every name and branch that the interface allows', async () => {
    const { token } = await newOrg()
    const longest = 'a'.repeat(64)
    for (const name of [longest, '0', 'a.b_c-d', 'x.git', 'a..b'])
      assert.equal((await app.client(token).repos.create({ name })).name, name)
    const branch = `release/${'b'.repeat(131)}`
    const made = await app.client(token).repos.create({ name: 'branched', defaultBranch: branch })
    assert.equal(made.defaultBranch, branch)
  })

  it('refuses every other name and branch', async () => {
    for (const name of ['', 'A', '.a', '-a', '_a', 'a b', 'a/b', 'ä', 'a\n', 'a'.repeat(65)]) {
      const { status, body } = await app.call('repos/create', { name }, { token })
      assert.deepEqual([status, body.code, body.data.issues[0].path], [400, 'BAD_REQUEST', ['name']], name)
    }
    assertInvalid(await app.call('repos/create', {}, { token }), ['name'])
    for (const defaultBranch of [
      '',
      'b'.repeat(140),
      'a..b',
      '-a',
      'a b',
      '/a',
      'a/',
      'a.lock',
      'HEAD',
      'a\0',
    ])
      assertInvalid(await app.call('repos/create', { name: 'x', defaultBranch }, { token }), [
        'defaultBranch',
      ])
    assert.deepEqual(await names(), ['hello'])
  })

  it('keeps names unique inside an organization, and only there', async () => {
    const taken = await app.call('repos/create', { name: 'hello' }, { token })
    assertFault(taken, 'REPO_ALREADY_EXISTS', { name: 'hello' })
    const { token: other, slug } = await newOrg()
    const made = await app.client(other).repos.create({ name: 'hello' })
    assert.equal(made.remote, `${app.url}/git/${slug}/hello.git`)
  })

  it('lets exactly one of many have a name they all want at once', async () => {
    const { token, slug } = await newOrg()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => app.call('repos/create', { name: 'wanted' }, { token })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    for (const answer of answers)
      if (answer.status !== 200) assertFault(answer, 'REPO_ALREADY_EXISTS', { name: 'wanted' })
    assert.equal((await app.client(token).orgs.get({ orgSlug: slug })).repoCount, 1)
    const { items } = await app.client(token).events.list({ name: 'wanted' })
    assert.deepEqual(
      items.map(({ seq, type }) => [seq, type]),
      [[1, 'repo.created']],
    )
  })

  it('renames a repository with everything that belongs to it', async () => {
    const made = await client().repos.create({ name: 'old' })
    await client().repos.create({ name: 'beside' })
    app.pass(1000)
    const renamed = await client().repos.update({ name: 'old', newName: 'new' })
    assert.deepEqual(renamed, {
      ...made,
      name: 'new',
      remote: `${app.url}/git/owner/new.git`,
      updatedAt: renamed.updatedAt,
    })
    assert.ok(renamed.updatedAt >= made.updatedAt + 1000)
    assert.deepEqual(await client().repos.get({ name: 'old' }), renamed)
    assertFault(
      await app.call('repos/update', { name: 'new', newName: 'beside' }, { token }),
      'REPO_ALREADY_EXISTS',
      { name: 'beside' },
    )
    assert.equal((await client().repos.update({ name: 'new', newName: 'new' })).name, 'new')
    assert.equal((await client().repos.create({ name: 'old' })).name, 'old')
    for (const name of ['old', 'new', 'beside']) await client().repos.delete({ name })
  })

  it('changes nothing that an update does not name, not even when others are changing it', async () => {
    const made = await client().repos.create({ name: 'kept', defaultBranch: 'trunk' })
    const same = await client().repos.update({ name: 'kept' })
    assert.deepEqual({ ...same, updatedAt: 0 }, { ...made, updatedAt: 0 })
    for (let round = 0; round < 10; round++) {
      await client().repos.update({ name: 'kept', readOnly: false })
      await Promise.all([
        client().repos.update({ name: 'kept', defaultBranch: 'first' }),
        client().repos.update({ name: 'kept', readOnly: true }),
        client().repos.update({ name: 'kept', defaultBranch: 'second' }),
      ])
      assert.equal((await client().repos.get({ name: 'kept' })).readOnly, true)
    }
    await client().repos.delete({ name: 'kept' })
  })

  it('deletes a repository, and frees its name', async () => {
    await client().repos.create({ name: 'doomed' })
    assert.deepEqual(await client().repos.delete({ name: 'doomed' }), { deleted: true })
    for (const path of ['repos/get', 'repos/update', 'repos/delete', 'events/list'])
      assertFault(await app.call(path, { name: 'doomed' }, { token }), 'REPO_NOT_FOUND', { name: 'doomed' })
    await client().repos.create({ name: 'doomed' })
    const { items } = await client().events.list({ name: 'doomed' })
    assert.deepEqual(
      items.map(({ seq, type }) => [seq, type]),
      [[1, 'repo.created']],
    )
    await client().repos.delete({ name: 'doomed' })
  })

  it('tells of every change and of no refused one', async () => {
    const create = () => client().repos.create({ name: 'told', defaultBranch: 'trunk' })
    await expectEvents(app, ['repo.created told'], create)
    await expectEvents(app, ['repo.updated retold'], () =>
      client().repos.update({ name: 'told', newName: 'retold', readOnly: true }),
    )
    const { items } = await client().events.list({ name: 'retold' })
    assert.deepEqual(
      items.map(({ payload }) => payload),
      [
        { name: 'told', defaultBranch: 'trunk' },
        { name: 'retold', previousName: 'told', defaultBranch: 'trunk', readOnly: true },
      ],
    )
    await expectEvents(app, [], async () => {
      await app.call('repos/create', { name: 'retold' }, { token })
      await app.call('repos/create', { name: 'No' }, { token })
      await app.call('repos/update', { name: 'retold', newName: 'hello' }, { token })
      await app.call('repos/update', { name: 'untold', newName: 'x' }, { token })
      await app.call('repos/delete', { name: 'untold' }, { token })
      await app.call('repos/delete', { name: 'retold' })
    })
    await expectEvents(app, ['repo.deleted retold'], () => client().repos.delete({ name: 'retold' }))
  })

  it('makes as many repositories as the quota allows and not one more, however many ask at once', async () => {
    const { token, slug } = await newOrg()
    await app.database.db
      .updateTable('orgs')
      .set({ repo_count: QUOTA - 5 })
      .where('slug', '=', slug)
      .execute()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => app.call('repos/create', { name: `r${n}` }, { token })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 5)
    for (const answer of answers)
      if (answer.status !== 200)
        assertFault(answer, 'QUOTA_EXCEEDED', {
          scope: 'org',
          limit: QUOTA,
          observed: QUOTA,
          projected: QUOTA + 1,
        })
    const { items } = await app.client(token).repos.list({})
    assert.equal(items.length, 5)
    // One that goes makes room for one that comes.
    await app.client(token).repos.delete({ name: items[0]?.name ?? '' })
    await app.client(token).repos.create({ name: 'room' })
    assert.equal((await app.call('repos/create', { name: 'full' }, { token })).status, 429)
  })

  it('pages through 250 repositories by 100, in order of name', async () => {
    const { token } = await newOrg()
    const pages = app.client(token).repos
    const all = Array.from({ length: 250 }, (_, n) => `repo-${String(n).padStart(3, '0')}`)
    for (let n = 250; n > 0; n -= 25)
      await Promise.all(all.slice(n - 25, n).map((name) => pages.create({ name })))

    const seen: string[][] = []
    let cursor: string | null | undefined
    do {
      const page = await pages.list({ limit: 100, ...(cursor && { cursor }) })
      seen.push(page.items.map(({ name }) => name))
      cursor = page.nextCursor
    } while (cursor)
    assert.deepEqual(seen, [all.slice(0, 100), all.slice(100, 200), all.slice(200)])

    // The default is 50; an exact fit is the last page.
    assert.equal((await pages.list({})).items.length, 50)
    const half = await pages.list({ limit: 100 })
    const rest = await pages.list({ limit: 100, cursor: half.nextCursor ?? '' })
    assert.equal((await pages.list({ limit: 50, cursor: rest.nextCursor ?? '' })).nextCursor, null)
    for (const limit of [0, 101, 1.5, '10'])
      assertInvalid(await app.call('repos/list', { limit }, { token }), ['limit'])

    // A cursor that says nothing starts over.
    for (const garbage of ['', 'garbage', '%', 'YzE', Buffer.from('c1:a\0').toString('base64url')])
      assert.equal((await pages.list({ limit: 1, cursor: garbage })).items[0]?.name, 'repo-000', garbage)

    // One whose repository is gone goes on behind it.
    await pages.delete({ name: 'repo-099' })
    const next = await pages.list({ limit: 100, cursor: half.nextCursor ?? '' })
    assert.deepEqual([next.items[0]?.name, next.items.length], ['repo-100', 100])
  })
})
