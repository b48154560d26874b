import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPostgres, useDatabase } from '../../testing/databases.ts'
import { cutConnections } from '../../testing/postgres.ts'
import type { Migration } from '../migrations/index.ts'

interface Notes {
  notes: { id: string }
}

const steps: Migration[] = [
  { name: 'notes', statements: ({ text }) => [`create table notes (id ${text} primary key)`] },
]

describe('a PostgreSQL that cuts its connections', () => {
  const database = useDatabase<Notes>(createPostgres, { steps })

  const ids = async () => (await database.db.selectFrom('notes').select('id').execute()).map(({ id }) => id)
  const add = (id: string) => database.transact((tx) => tx.insertInto('notes').values({ id }).execute())

  it('ends a transaction that is between two statements, keeps nothing of it, and nothing else ends', async () => {
    const broken = database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'first' }).execute()
      await cutConnections(database.store)
      await tx.insertInto('notes').values({ id: 'second' }).execute()
    })
    await assert.rejects(broken)
    await add('after')
    assert.deepEqual(await ids(), ['after'])
  })

  it('ends idle connections, which are replaced', async () => {
    await Promise.all([ids(), ids(), ids()])
    await cutConnections(database.store)
    // Each broken connection may be met once.
    let added = false
    for (let attempt = 0; attempt < 5 && !added; attempt++) added = await add('again').then(yes, no)
    assert.deepEqual((await ids()).toSorted(), ['after', 'again'])
    assert.equal(await database.answers(), true)
  })
})

const yes = () => true
const no = () => false
