import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { RepoRow } from '../repos/store.ts'
import { foundOrg, onEachDatabase, useApp } from '../testing/index.ts'
import { createPackLists } from './pack-lists.ts'
import * as store from './store.ts'

onEachDatabase('lists of packs', (create) => {
  const app = useApp(create)
  let repo: RepoRow
  let now = 0

  before(async () => {
    const { owner } = await foundOrg(app, 'acme')
    await app.client(owner.token, 'acme').repos.create({ name: 'listed' })
    repo = await app.database.db.selectFrom('repos').selectAll().executeTakeFirstOrThrow()
  })

  const createLists = () =>
    createPackLists({ db: app.database.db, repos: { find: rowOf }, stopwatch: () => now })

  const rowOf = (id: string) =>
    app.database.db.selectFrom('repos').selectAll().where('id', '=', id).executeTakeFirst()

  const land = (version: number) =>
    app.database.db.updateTable('repos').set({ refs_version: version }).where('id', '=', repo.id).execute()

  const insert = (packId: string) =>
    app.database.transact((tx) => store.insertPack(tx, repo.id, { packId, bytes: 1, objects: 1 }, ++now))

  it('know for a moment what was listed, with what has come since, and nothing of what was taken away', async () => {
    const lists = createLists()
    assert.equal(lists.lately(repo), undefined)
    await insert('a'.repeat(40))
    assert.deepEqual((await lists.read(repo)).ids, ['a'.repeat(40)])
    await insert('b'.repeat(40))
    lists.noteLanded({ ...repo, refs_version: 1 }, 'b'.repeat(40))
    const known = lists.lately(repo)
    assert.deepEqual(known?.ids, ['b'.repeat(40), 'a'.repeat(40)])
    assert.deepEqual(known, {
      ...(await createLists().read(repo)),
      readAt: 1,
      version: 1,
    })

    // After a pruning it is another list.
    assert.equal(lists.lately({ ...repo, prunes: repo.prunes + 1 }), undefined)
    // What was found out by others is heard of.
    now += 10_000
    assert.equal(lists.lately(repo), undefined)
    await lists.read(repo)
    assert.equal(lists.lately(repo)?.ids.length, 2)
    lists.forgetAll()
    assert.equal(lists.lately(repo), undefined)
  })

  it('are read again for what is missed only when something has landed that they do not know', async () => {
    const lists = createLists()
    await lists.read(repo)
    const count = async () => (await lists.readMissed(repo)).ids.length
    const before = await count()
    // Nothing has landed, so nobody may know of it.
    await insert('c'.repeat(40))
    assert.equal(await count(), before)
    await land(1)
    assert.equal(await count(), before + 1)

    await insert('d'.repeat(40))
    await land(2)
    lists.noteLanded({ ...repo, refs_version: 2 }, 'd'.repeat(40))
    await insert('e'.repeat(40))
    assert.equal(await count(), before + 2)
    // A branch that was made of what is there.
    await land(3)
    lists.noteLanded({ ...repo, refs_version: 3 }, undefined)
    assert.equal(await count(), before + 2)
    // Another process has landed the fourth.
    await land(5)
    lists.noteLanded({ ...repo, refs_version: 5 }, undefined)
    assert.equal(await count(), before + 3)
  })
})
