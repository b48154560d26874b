import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import type { Generated, Kysely, Transaction } from 'kysely'
import { onEachDatabase, useDatabase } from '../testing/databases.ts'
import type { Migration } from './migrations/index.ts'
import { prepared, preparedInsert } from './prepared.ts'

interface Notes {
  notes: { id: string; number: Generated<number> }
}

const steps: Migration[] = [
  {
    name: 'notes',
    statements: ({ text, integer }) => [
      `create table notes (id ${text} primary key, number ${integer} not null default 0)`,
    ],
  },
]

const list = prepared((db: Kysely<Notes>, { after, limit }: { after: string; limit: number }) =>
  db.selectFrom('notes').selectAll().where('id', '>', after).orderBy('id').limit(limit),
)
const add = prepared((db: Kysely<Notes>, { id, number }: { id: string; number: number }) =>
  db.insertInto('notes').values({ id, number }),
)
const count = prepared((db: Kysely<Notes>, { id }: { id: string }) =>
  db
    .updateTable('notes')
    .set((eb) => ({ number: eb('number', '+', eb.lit(1)) }))
    .where('id', '=', id)
    .returning('number'),
)

onEachDatabase('a prepared query', (create) => {
  const database = useDatabase<Notes>(create, { steps })

  beforeEach(() => database.transact((tx) => tx.deleteFrom('notes').execute()))

  it('takes new values at every call', async () => {
    await database.transact(async (tx) => {
      for (const id of ['a', 'b', 'c']) await add(tx, { id, number: 1 })
    })
    const ids = async (after: string, limit: number) =>
      (await list(database.db, { after, limit })).map(({ id }) => id)
    assert.deepEqual(await ids('', 2), ['a', 'b'])
    assert.deepEqual(await ids('b', 2), ['c'])
    assert.deepEqual(await ids('', 3), ['a', 'b', 'c'])
    assert.deepEqual(await list(database.db, { after: 'b', limit: 1 }), [{ id: 'c', number: 1 }])
  })

  it('in a transaction sees its writes, which nobody else does before the commit', async () => {
    await database.transact(async (tx) => {
      await add(tx, { id: 'mine', number: 1 })
      assert.deepEqual(await count(tx, { id: 'mine' }), [{ number: 2 }])
      assert.equal((await list(tx, { after: '', limit: 9 })).length, 1)
      assert.equal((await list(database.db, { after: '', limit: 9 })).length, 0)
    })
    assert.deepEqual(await list(database.db, { after: '', limit: 9 }), [{ id: 'mine', number: 2 }])
  })

  it('is undone with its transaction, and its failure is the failure of the query', async () => {
    const twice = database.transact(async (tx) => {
      await add(tx, { id: 'one', number: 1 })
      await assert.rejects(add(tx, { id: 'one', number: 1 }))
      throw new Error('half way')
    })
    await assert.rejects(twice, /half way/)
    assert.deepEqual(await list(database.db, { after: '', limit: 9 }), [])
  })

  it('is refused on a transaction that has ended', async () => {
    let ended: Transaction<Notes> | undefined
    await database.transact(async (tx) => {
      ended = tx
      await add(tx, { id: 'in time', number: 1 })
    })
    assert.ok(ended)
    await assert.rejects(add(ended, { id: 'too late', number: 1 }))
    assert.equal((await list(database.db, { after: '', limit: 9 })).length, 1)
  })

  it('inserts any number of rows, each with its own values', async () => {
    const insert = preparedInsert<Notes, 'notes'>('notes')
    for (const size of [0, 1, 3, 64, 100, 1500]) {
      const rows = Array.from({ length: size }, (_, i) => ({ id: `${size} ${i}`, number: i }))
      await database.transact((tx) => insert(tx, rows))
      const kept = await database.db
        .selectFrom('notes')
        .selectAll()
        .where('id', 'like', `${size} %`)
        .orderBy('number')
        .execute()
      assert.deepEqual(kept, rows)
    }
  })

  it('inserts rows with other columns than the last time', async () => {
    const insert = preparedInsert<Notes, 'notes'>('notes')
    await database.transact(async (tx) => {
      await insert(tx, [{ id: 'given', number: 7 }])
      await insert(tx, [{ id: 'left out' }])
      await insert(tx, [{ number: 8, id: 'other order' }])
    })
    assert.deepEqual(await list(database.db, { after: '', limit: 9 }), [
      { id: 'given', number: 7 },
      { id: 'left out', number: 0 },
      { id: 'other order', number: 8 },
    ])
  })

  it('writes outside of a transaction too', async () => {
    await add(database.db, { id: 'alone', number: 1 })
    assert.equal((await list(database.db, { after: '', limit: 9 })).length, 1)
  })
})
