import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { createPostgres, type TestDatabase } from '../../testing/index.ts'
import { type Database, openDatabase } from '../database.ts'
import type { Migration } from '../migrations/index.ts'

interface Notes {
  notes: { id: string }
}

const steps: Migration[] = [
  { name: 'notes', statements: ({ text }) => [`create table notes (id ${text} primary key)`] },
]

describe('a PostgreSQL that cuts its connections', () => {
  let store: TestDatabase
  let database: Database<Notes>
  before(async () => {
    store = await createPostgres()
    database = await openDatabase<Notes>(store.location, { steps })
  })
  after(async () => {
    await database.close()
    await store.drop()
  })

  const ids = async () => (await database.db.selectFrom('notes').select('id').execute()).map(({ id }) => id)
  const add = (id: string) => database.transact((tx) => tx.insertInto('notes').values({ id }).execute())

  it('ends a transaction that is between two statements, keeps nothing of it, and nothing else ends', async () => {
    const broken = database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'first' }).execute()
      await cutConnections(store)
      await tx.insertInto('notes').values({ id: 'second' }).execute()
    })
    await assert.rejects(broken)
    await add('after')
    assert.deepEqual(await ids(), ['after'])
  })

  it('ends idle connections, which are replaced', async () => {
    await Promise.all([ids(), ids(), ids()])
    await cutConnections(store)
    // Each broken connection may be met once.
    let added = false
    for (let attempt = 0; attempt < 5 && !added; attempt++) added = await add('again').then(yes, no)
    assert.deepEqual((await ids()).toSorted(), ['after', 'again'])
    assert.equal(await database.answers(), true)
  })
})

const yes = () => true
const no = () => false

/** As when it is restarted. Returns when none is left. */
async function cutConnections({ url }: TestDatabase): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  await client.query(`select pg_terminate_backend(pid) ${others}`)
  while ((await client.query(`select pid ${others}`)).rows.length > 0);
  await client.end()
}
