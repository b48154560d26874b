import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  type Answer,
  assertFault,
  assertForbidden,
  foundOrg,
  onEachDatabase,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

onEachDatabase('what was renamed', (create) => {
  const app = useApp(create)
  let org: TestOrg
  let key: string

  before(async () => {
    org = await foundOrg(app, 'acme')
    key = (await api().keys.create({ name: 'key' })).secret
  })

  const api = () => app.client(org.owner.token, org.slug)
  const rename = (name: string, newName: string) => api().repos.update({ name, newName })
  const idOf = async (name: string) => (await api().repos.get({ name })).artifactId
  const get = (name: string, options = org.as(org.owner)) => app.call('repos/get', { name }, options)
  const assertNone = (answer: Answer, name: string) => assertFault(answer, 'REPO_NOT_FOUND', { name })

  describe('a repository', () => {
    it('answers at all the names it had, however often they changed', async () => {
      await api().repos.create({ name: 'one' })
      const id = await idOf('one')
      await rename('one', 'two')
      await rename('two', 'three')
      for (const name of ['one', 'two', 'three']) {
        const { name: now, remote, artifactId } = await api().repos.get({ name })
        assert.deepEqual([now, artifactId], ['three', id])
        assert.equal(remote, `${app.url}/git/acme/three.git`)
      }
      const changes = [{ op: 'put' as const, path: 'a', content: 'a' }]
      await app
        .client(key)
        .git.commits.create({ name: 'one', branch: 'main', message: 'By its old name', changes })
      assert.equal((await api().git.branches.list({ name: 'two' })).items.length, 1)
      // Back, and forth again through an old name.
      await rename('two', 'one')
      assert.deepEqual([await idOf('three'), (await api().repos.get({ name: 'two' })).name], [id, 'one'])
      const { items } = await api().repos.list({})
      assert.equal(items.filter(({ artifactId }) => artifactId === id).length, 1)
    })

    it('leaves a name to whoever takes it, for good', async () => {
      await api().repos.create({ name: 'left' })
      const id = await idOf('left')
      await rename('left', 'moved')
      const { artifactId: taker } = await api().repos.create({ name: 'left' })
      assert.deepEqual([await idOf('left'), await idOf('moved')], [taker, id])
      await rename('left', 'gone-on')
      assert.equal(await idOf('left'), taker)
      await api().repos.delete({ name: 'gone-on' })
      for (const name of ['left', 'gone-on']) assertNone(await get(name), name)

      // Taken by one that is deleted with that name, and by one that is renamed to it.
      await rename('moved', 'again')
      await api().repos.create({ name: 'moved' })
      await api().repos.delete({ name: 'moved' })
      assertNone(await get('moved'), 'moved')
      await rename('again', 'last')
      await api().repos.create({ name: 'other' })
      await rename('other', 'again')
      await rename('again', 'elsewhere')
      assert.equal((await api().repos.get({ name: 'again' })).name, 'elsewhere')
      assert.equal(await idOf('last'), id)
    })

    it('is deleted by a name it had, and gone at all of them then', async () => {
      await api().repos.create({ name: 'first' })
      await rename('first', 'second')
      await api().repos.delete({ name: 'first' })
      for (const name of ['first', 'second']) assertNone(await get(name), name)
    })

    it('shows nothing at an old name to those who may not see it', async () => {
      await api().repos.create({ name: 'secret' })
      await api().repos.create({ name: 'public' })
      await rename('secret', 'hidden')
      const outsider = await app.signUp('outsider')
      assertNone(await get('secret', { token: outsider.token }), 'secret')
      assertForbidden(await get('secret', { token: outsider.token, org: 'acme' }), 'not_a_member')
      const { secret } = await api().tokens.create({ name: 'public' })
      assertNone(await get('secret', { token: secret }), 'secret')
      const own = await api().tokens.create({ name: 'hidden' })
      assert.equal((await get('secret', { token: own.secret })).body.name, 'hidden')
      assertForbidden(
        await app.call('repos/update', { name: 'secret', readOnly: true }, { token: own.secret }),
        'scope_missing',
      )
    })

    it('is found by the last fifty of its names', async () => {
      await api().repos.create({ name: 'n-0' })
      await rename('n-0', 'n-1')
      // As if it had been called many other things before.
      const { db } = app.database
      const first = await db
        .selectFrom('former_repo_names')
        .selectAll()
        .where('name', '=', 'n-0')
        .executeTakeFirstOrThrow()
      const before = Array.from({ length: 49 }, (_, i) => ({
        ...first,
        name: `before-${i}`,
        left_at: first.left_at - 1 - i,
      }))
      await db.insertInto('former_repo_names').values(before).execute()
      await rename('n-1', 'n-2')
      assertNone(await get('before-48'), 'before-48')
      for (const name of ['before-47', 'n-0', 'n-1']) assert.equal((await get(name)).body.name, 'n-2')
    })

    it('leaves every name it had, when several rename it at once', async () => {
      await api().repos.create({ name: 'race' })
      const names = ['race-a', 'race-b', 'race-c']
      await Promise.all(
        names.map((newName) => app.call('repos/update', { name: 'race', newName }, org.as(org.owner))),
      )
      const now = (await get('race')).body.name
      assert.ok(names.includes(now))
      for (const name of names) assert.equal((await get(name)).body.name, now)
    })

    it('can be forked by an old name, and the fork takes the name it is given', async () => {
      await api().repos.create({ name: 'parent' })
      await rename('parent', 'mother')
      const fork = await api().repos.fork({ name: 'parent', newName: 'parent' })
      assert.equal((await api().repos.get({ name: 'parent' })).artifactId, fork.artifactId)
      assert.notEqual(await idOf('mother'), fork.artifactId)
    })
  })

  describe('an organization', () => {
    const reslug = (orgSlug: string, slug: string) => app.client(founder.token).orgs.update({ orgSlug, slug })
    let founder: TestOrg['owner']
    let orgKey: string
    const who = (orgSlug: string, token = founder.token) => app.call('orgs/get', { orgSlug }, { token })
    const acting = (org: string, token = founder.token) => app.call('repos/list', {}, { token, org })

    before(async () => {
      founder = await app.signUp('founder')
      await app.client(founder.token).orgs.create({ slug: 'old' })
      orgKey = (await app.client(founder.token, 'old').keys.create({ name: 'key' })).secret
      await app.client(orgKey).repos.create({ name: 'kept' })
      await reslug('old', 'middle')
      await reslug('middle', 'latest')
    })

    it('answers at all the slugs it had', async () => {
      for (const slug of ['old', 'middle', 'latest'])
        for (const token of [founder.token, orgKey]) {
          assert.equal((await who(slug, token)).body.slug, 'latest')
          assert.equal((await acting(slug, token)).body.items[0].remote, `${app.url}/git/latest/kept.git`)
        }
      assert.equal((await reslug('old', 'later')).slug, 'later')
      await reslug('later', 'latest')
    })

    it('tells those who are not in it nothing', async () => {
      const outsider = await app.signUp('nobody')
      for (const slug of ['old', 'latest', 'never']) {
        assertForbidden(await who(slug, outsider.token), 'not_a_member')
        assertForbidden(await acting(slug, outsider.token), 'not_a_member')
        assertForbidden(await acting(slug, app.ownerKey ?? ''), 'not_a_member')
      }
    })

    it('leaves a slug to whoever takes it', async () => {
      const taker = await app.signUp('taker')
      await app.client(taker.token).orgs.create({ slug: 'old' })
      assert.equal((await who('old', taker.token)).body.slug, 'old')
      for (const token of [founder.token, orgKey]) {
        assertForbidden(await who('old', token), 'not_a_member')
        assertForbidden(await acting('old', token), 'not_a_member')
      }
      assert.equal((await who('middle')).body.slug, 'latest')
      // It does not come back when that one goes.
      await app.client(taker.token).orgs.delete({ orgSlug: 'old' })
      assertForbidden(await who('old'), 'not_a_member')
    })

    it('is gone at all of them when it is deleted, by any of them', async () => {
      await app.client(founder.token).orgs.create({ slug: 'brief' })
      await reslug('brief', 'briefer')
      await app.client(founder.token).orgs.delete({ orgSlug: 'brief' })
      for (const slug of ['brief', 'briefer']) assertForbidden(await who(slug), 'not_a_member')
    })
  })
})
