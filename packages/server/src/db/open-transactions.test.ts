import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onEachDatabase, useDatabase } from '../testing/index.ts'
import type { Migration } from './migrations/index.ts'
import { type LongTransaction, NestedTransaction } from './open-transactions.ts'

interface Notes {
  notes: { id: string }
}

const steps: Migration[] = [
  { name: 'notes', statements: ({ text }) => [`create table notes (id ${text} primary key)`] },
]

onEachDatabase('open transactions', (create) => {
  const long: LongTransaction[] = []
  const database = useDatabase<Notes>(create, {
    steps,
    onLongTransaction: (one) => long.push(one),
    longTransactionMs: 50,
  })

  const add = (id: string) => database.transact((tx) => tx.insertInto('notes').values({ id }).execute())
  const ids = async () => (await database.db.selectFrom('notes').select('id').execute()).map(({ id }) => id)

  // Without the check the second would wait on SQLite for the first, which waits for it.
  it('refuse another inside them, and keep nothing', { timeout: 300_000 }, async () => {
    const nested = database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'outer' }).execute()
      await add('inner')
    })
    await assert.rejects(nested, (error) => {
      assert.ok(error instanceof NestedTransaction)
      assert.match(error.message, /id: 'outer'/)
      return true
    })
    assert.deepEqual(await ids(), [])
  })

  it('let in what they set off for afterwards', async () => {
    let later: Promise<unknown> = Promise.resolve()
    await database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'first' }).execute()
      database.afterCommit(tx, () => {
        later = add('second')
      })
    })
    await later
    assert.deepEqual((await ids()).toSorted(), ['first', 'second'])
  })

  it('are told of with what they do when they stay open', async () => {
    long.length = 0
    await database.transact(() => sleep(1200))
    // While it was open, by the watch, and when it ended.
    assert.deepEqual(
      long.map(({ isOpen }) => isOpen),
      [true, false],
    )
    for (const { ms, work } of long) {
      assert.ok(ms >= 50)
      assert.match(work, /sleep\(1200\)/)
    }
    long.length = 0
    await add('short')
    assert.deepEqual(long, [])
  })
})
