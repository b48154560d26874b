import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { onEachDatabase, useDatabase } from '../testing/databases.ts'
import { openDatabase } from './database.ts'
import type { Migration } from './migrations/index.ts'
import { remembered } from './prepared.ts'

interface Shelf {
  shelves: { id: string; label: string }
  books: { id: string; shelf_id: string; title: string }
}

const steps: Migration[] = [
  {
    name: 'shelves',
    statements: ({ text }) => [
      `create table shelves (id ${text} primary key, label ${text} not null)`,
      `create table books (
        id ${text} primary key,
        shelf_id ${text} not null references shelves (id) on delete cascade,
        title ${text} not null
      )`,
    ],
  },
]

const bookOf = remembered(['books'], (db: Kysely<Shelf>, { id }: { id: string }) =>
  db.selectFrom('books').select('title').where('id', '=', id),
)
const place = remembered(['books', 'shelves'], (db: Kysely<Shelf>, { id }: { id: string }) =>
  db
    .selectFrom('books')
    .innerJoin('shelves', 'shelves.id', 'books.shelf_id')
    .select(['books.title', 'shelves.label'])
    .where('books.id', '=', id),
)

onEachDatabase('a remembered query', (create) => {
  const database = useDatabase<Shelf>(create, { steps })
  const title = async () => (await bookOf(database.db, { id: 'b' }))[0]?.title

  beforeEach(async () => {
    await database.transact(async (tx) => {
      await tx.deleteFrom('shelves').execute()
      await tx.insertInto('shelves').values({ id: 's', label: 'first' }).execute()
      await tx.insertInto('books').values({ id: 'b', shelf_id: 's', title: 'one' }).execute()
    })
    // What the test before remembered is not this.
    assert.equal(await title(), 'one')
  })

  it('gives what a transaction changed as soon as it is committed, and not before', async () => {
    await database.transact(async (tx) => {
      await tx.updateTable('books').set({ title: 'two' }).where('id', '=', 'b').execute()
      assert.equal(await title(), 'one')
      assert.deepEqual(await bookOf(tx, { id: 'b' }), [{ title: 'two' }])
    })
    assert.equal(await title(), 'two')
    await database.db.updateTable('books').set({ title: 'three' }).execute()
    assert.equal(await title(), 'three')
  })

  it('gives what it gave before when a transaction is rolled back', async () => {
    const failing = database.transact(async (tx) => {
      await tx.updateTable('books').set({ title: 'two' }).execute()
      throw new Error('on purpose')
    })
    await assert.rejects(failing, /on purpose/)
    assert.equal(await title(), 'one')
  })

  it('notices a change of every table it reads', async () => {
    const [before] = await place(database.db, { id: 'b' })
    assert.deepEqual(before, { title: 'one', label: 'first' })
    await database.transact((tx) => tx.updateTable('shelves').set({ label: 'second' }).execute())
    const [after] = await place(database.db, { id: 'b' })
    assert.deepEqual(after, { title: 'one', label: 'second' })
  })

  it('notices rows that go with those of another table, and statements that begin otherwise', async () => {
    await database.transact((tx) =>
      sql`with chosen as (select 'b' as id)
        update books set title = 'two' where id in (select id from chosen)`.execute(tx),
    )
    assert.equal(await title(), 'two')
    await database.transact((tx) => tx.deleteFrom('shelves').where('id', '=', 's').execute())
    assert.equal(await title(), undefined)
  })

  it('finds what was not there the last time', async () => {
    assert.deepEqual(await bookOf(database.db, { id: 'new' }), [])
    await database.transact((tx) =>
      tx.insertInto('books').values({ id: 'new', shelf_id: 's', title: 'new' }).execute(),
    )
    assert.deepEqual(await bookOf(database.db, { id: 'new' }), [{ title: 'new' }])
  })

  it('notices what others write who have opened the same database', async () => {
    const other = await openDatabase<Shelf>(database.store.location, { steps })
    await other.transact((tx) => tx.updateTable('books').set({ title: 'theirs' }).execute())
    await sleep(11)
    assert.equal(await title(), 'theirs')
    await other.close()
  })
})
