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

  const insert = (packId: string) =>
    app.database.transact((tx) => store.insertPack(tx, repo.id, { packId, bytes: 1, objects: 1 }, ++now))

  it('know for a moment what was listed, with what has come since, and nothing of what was taken away', async () => {
    const lists = createPackLists({ db: app.database.db, stopwatch: () => now })
    assert.equal(lists.lately(repo), undefined)
    await insert('a'.repeat(40))
    assert.deepEqual((await lists.read(repo)).ids, ['a'.repeat(40)])
    await insert('b'.repeat(40))
    lists.noteAdded(repo, 'b'.repeat(40))
    const known = lists.lately(repo)
    assert.deepEqual(known?.ids, ['b'.repeat(40), 'a'.repeat(40)])
    assert.deepEqual(known, {
      ...(await createPackLists({ db: app.database.db, stopwatch: () => now }).read(repo)),
      readAt: 1,
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
})
