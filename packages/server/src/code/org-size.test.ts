import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { onEachDatabase, useApp } from '../testing/index.ts'

onEachDatabase('the size of an organization', (create) => {
  const app = useApp(create)
  let token: string

  before(() => {
    token = app.ownerKey ?? ''
  })

  /** What the organizations say they hold; it must be what their repositories say. */
  async function counted(): Promise<number> {
    const orgs = await app.database.db.selectFrom('orgs').select(['id', 'size_bytes']).execute()
    const repos = await app.database.db.selectFrom('repos').select(['org_id', 'size_bytes']).execute()
    for (const { id, size_bytes } of orgs) {
      const sizes = repos.filter(({ org_id }) => org_id === id).map((repo) => repo.size_bytes)
      assert.equal(
        size_bytes,
        sizes.reduce((sum, size) => sum + size, 0),
      )
    }
    return orgs.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  }

  const commit = (name: string, content: string) =>
    app.client(token).git.commits.create({
      name,
      branch: 'main',
      message: content,
      changes: [{ op: 'put', path: 'a', content }],
    })

  it('is that of its repositories, whatever happens to them, many things at once too', async () => {
    const trellis = app.client(token)
    for (const name of ['a', 'b', 'c']) await trellis.repos.create({ name })
    assert.equal(await counted(), 0)
    await Promise.all(['a', 'b', 'c'].map((name) => commit(name, `first of ${name}`)))
    const three = await counted()
    assert.ok(three > 300, `${three} bytes`)
    await commit('a', 'second')
    const grown = await counted()
    assert.ok(grown > three)
    // One of two at once is refused, and what it brought is not counted.
    await Promise.allSettled([commit('b', 'this'), commit('b', 'that')])
    await counted()
    await trellis.git.branches.create({ name: 'a', branch: 'more' })
    const before = await counted()
    const { sizeBytes } = await trellis.repos.fork({ name: 'a', newName: 'forked' })
    assert.equal(await counted(), before + sizeBytes)
    await Promise.all(
      ['a', 'forked'].map((name) =>
        Promise.allSettled([trellis.repos.delete({ name }), commit(name, 'late')]),
      ),
    )
    await counted()
    await app.database.transact((tx) =>
      tx.updateTable('repos').set({ expires_at: 1 }).where('name', '=', 'b').execute(),
    )
    await app.expire()
    await counted()
    await trellis.repos.delete({ name: 'c' })
    assert.equal(await counted(), 0)
  })
})
