import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqlite } from '../../testing/databases.ts'
import { openDatabase } from '../database.ts'
import type { Migration } from '../migrations/index.ts'

interface Notes {
  notes: { id: string }
}

const steps: Migration[] = [
  {
    name: 'notes',
    statements: ({ text }) => [
      `create table notes (id ${text} primary key)`,
      // What SQLite does by itself when the disk is full or broken.
      `create trigger broken before insert on notes when new.id = 'broken' begin select raise(rollback, 'broken'); end`,
    ],
  },
]

async function withDatabase(
  work: (opened: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  const store = await createSqlite()
  const database = await open(store)
  try {
    await work(database)
  } finally {
    await database.close().catch(() => {})
    await store.drop()
  }
}

const open = (store: Awaited<ReturnType<typeof createSqlite>>) =>
  openDatabase<Notes>(store.location, { steps })

describe('the writer of SQLite', () => {
  it('keeps nothing of a transaction that goes on after SQLite gave it up', () =>
    withDatabase(async (database) => {
      const other = database.transact((tx) => tx.insertInto('notes').values({ id: 'other' }).execute())
      const stubborn = database.transact(async (tx) => {
        await tx.insertInto('notes').values({ id: 'before' }).execute()
        await assert.rejects(tx.insertInto('notes').values({ id: 'broken' }).execute(), /broken/)
        await tx.insertInto('notes').values({ id: 'after' }).execute()
      })
      await assert.rejects(stubborn)
      await other
      assert.deepEqual(await database.db.selectFrom('notes').select('id').execute(), [{ id: 'other' }])
    }))

  for (const failing of ['first', 'second', 'third'])
    it(`keeps the others when the ${failing} of a group fails`, () =>
      withDatabase(async (database) => {
        const outcomes = await Promise.allSettled(
          ['first', 'second', 'third'].map((id) =>
            database.transact(async (tx) => {
              await tx.insertInto('notes').values({ id }).execute()
              if (id === failing) throw new Error('failed')
            }),
          ),
        )
        const kept = (await database.db.selectFrom('notes').select('id').execute()).map(({ id }) => id)
        const others = ['first', 'second', 'third'].filter((id) => id !== failing)
        assert.deepEqual(kept.sort(), others)
        assert.deepEqual(
          outcomes.map(({ status }) => status === 'fulfilled'),
          ['first', 'second', 'third'].map((id) => id !== failing),
        )
      }))

  it('tells everybody who waits that the database has been closed', { timeout: 300_000 }, () =>
    withDatabase(async (database) => {
      const running = database.transact(async (tx) => {
        await tx.insertInto('notes').values({ id: 'running' }).execute()
        await sleep(50)
      })
      const waiting = database.transact((tx) => tx.insertInto('notes').values({ id: 'waiting' }).execute())
      await sleep(10)
      await database.close()
      await assert.rejects(running)
      await assert.rejects(waiting)
    }),
  )
})
