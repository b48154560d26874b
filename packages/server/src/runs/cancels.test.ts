import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Schema } from '../schema.ts'
import { createCancels, InOtherHands } from './cancels.ts'

/** Who holds which run, as far as the database is asked. */
type Holders = Record<string, string>

/** A database that is asked for nothing else, and answers when the test wants it to. */
function slowDatabase() {
  const asked: ((holders: Holders) => void)[] = []
  const connection: DatabaseConnection = {
    async executeQuery<R>() {
      const holders = await new Promise<Holders>((resolve) => asked.push(resolve))
      return { rows: Object.entries(holders).map(([id, worker_id]) => ({ id, worker_id }) as R) }
    },
    streamQuery: () => assert.fail('nothing is streamed'),
  }
  class Driver extends DummyDriver {
    override acquireConnection = async () => connection
  }
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new Driver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
  const answer = async (holders: Holders) => {
    while (asked.length === 0) await new Promise(setImmediate)
    asked.shift()?.(holders)
    await new Promise(setImmediate)
    await new Promise(setImmediate)
  }
  return { db, answer }
}

it('leaves a run alone that was taken up again while the database was asked', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { db, answer } = slowDatabase()
  const cancels = createCancels({ db })
  const other = cancels.watch('other', 'us')
  const before = cancels.watch('run', 'us')
  t.mock.timers.tick(1000)
  const again = cancels.watch('run', 'us')
  before[Symbol.dispose]()
  await answer({ other: 'us' })
  assert.equal(again.cancelled.aborted, false)
  assert.equal(other.cancelled.aborted, false)
  // And it is still listened to.
  cancels.cancel('run')
  assert.equal(again.cancelled.aborted, true)
  again[Symbol.dispose]()
  other[Symbol.dispose]()
})

it('tells one that was cancelled from one that is in other hands', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { db, answer } = slowDatabase()
  const cancels = createCancels({ db })
  using cancelled = cancels.watch('cancelled', 'us')
  using lost = cancels.watch('lost', 'us')
  t.mock.timers.tick(1000)
  await answer({ lost: 'others' })
  assert.equal(cancelled.cancelled.reason instanceof InOtherHands, false)
  assert.equal(cancelled.cancelled.aborted, true)
  assert.equal(lost.cancelled.reason instanceof InOtherHands, true)
})
