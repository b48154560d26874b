import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { createSqlite } from '../../testing/databases.ts'
import { countTurns } from '../../testing/turns.ts'
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
      // At once: which of them hears of it first is not said.
      const told = Promise.all([assert.rejects(running), assert.rejects(waiting)])
      await sleep(10)
      await database.close()
      await told
    }),
  )

  it('tells those who share a commit with one that is still at it', { timeout: 60_000 }, () =>
    withDatabase(async (database) => {
      const ended = database.transact((tx) => tx.insertInto('notes').values({ id: 'ended' }).execute())
      const running = database.transact(async (tx) => {
        await tx.insertInto('notes').values({ id: 'running' }).execute()
        await sleep(50)
      })
      const outcomes = Promise.allSettled([ended, running])
      await sleep(10)
      await database.close()
      // On a slow machine the first has been committed before the other began.
      const [, ofRunning] = await outcomes
      assert.equal(ofRunning?.status, 'rejected')
    }),
  )

  it('lets others come to theirs between many who write', () =>
    withDatabase(async (database) => {
      using turns = countTurns()
      const ids = Array.from({ length: 30 }, (_, i) => String(i))
      await Promise.all(ids.map((id) => database.transact((tx) => writeSlowly(tx, id))))
      // An eighth of those who are left each time.
      assert.ok(turns.count >= 10, `${turns.count} turns`)
      assert.equal((await database.db.selectFrom('notes').select('id').execute()).length, ids.length)
    }))

  it(
    'keeps what has been written when it is closed while others wait for the event loop',
    { timeout: 60_000 },
    () =>
      withDatabase(async (database) => {
        const done = database.transact((tx) => writeSlowly(tx, 'done'))
        const waiting = database.transact((tx) => writeSlowly(tx, 'waiting'))
        const outcomes = Promise.allSettled([done, waiting])
        // Not a turn of the event loop.
        for (let i = 0; i < 100; i++) await undefined
        await database.close()
        assert.deepEqual(
          (await outcomes).map(({ status }) => status),
          ['fulfilled', 'rejected'],
        )
      }),
  )
})

/** Longer than its share of a turn. */
async function writeSlowly(tx: Transaction<Notes>, id: string): Promise<void> {
  await tx.insertInto('notes').values({ id }).execute()
  for (const until = performance.now() + 1; performance.now() < until; );
}
