import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import { type Generated, sql } from 'kysely'
import { OutOfSpace } from '../platform/outages.ts'
import { onEachDatabase, useDatabase } from '../testing/databases.ts'
import { Duplicate } from './database.ts'
import type { Migration } from './migrations/index.ts'

interface Notes {
  notes: { id: string; body: string; number: Generated<number> }
}

const steps: Migration[] = [
  {
    name: 'notes',
    statements: ({ text, integer }) => [
      `create table notes (id ${text} primary key, body ${text} not null unique, number ${integer} not null default 0)`,
    ],
  },
]

onEachDatabase('a database', (create) => {
  const database = useDatabase<Notes>(create, { steps })

  beforeEach(() => database.transact((tx) => tx.deleteFrom('notes').execute()))

  const add = (id: string, number = 0) =>
    database.transact((tx) =>
      tx
        .insertInto('notes')
        .values({ id, body: `body ${id}`, number })
        .execute(),
    )
  const ids = async () => {
    const rows = await database.db.selectFrom('notes').select('id').orderBy('id').execute()
    return rows.map(({ id }) => id)
  }

  // Were a read to wait here, it would wait for itself.
  it('reads the last commit while a write transaction is open', { timeout: 300_000 }, async () => {
    await add('kept')
    await database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'new', body: 'x' }).execute()
      await tx.updateTable('notes').set({ body: 'changed' }).where('id', '=', 'kept').execute()
      assert.deepEqual(await ids(), ['kept'])
      const row = await database.db.selectFrom('notes').selectAll().executeTakeFirstOrThrow()
      assert.deepEqual({ ...row }, { id: 'kept', body: 'body kept', number: 0 })
    })
    assert.deepEqual(await ids(), ['kept', 'new'])
  })

  it('answers whether it can be reached while a write transaction is open', {
    timeout: 300_000,
  }, async () => {
    await database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'new', body: 'x' }).execute()
      assert.equal(await database.answers(), true)
    })
  })

  it('sees its own writes inside a transaction', async () => {
    await database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'mine', body: 'x' }).execute()
      const row = await tx.selectFrom('notes').select('id').executeTakeFirst()
      assert.equal(row?.id, 'mine')
    })
  })

  it('keeps nothing of a transaction that throws', async () => {
    const bug = new Error('half way')
    const half = database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'a', body: 'a' }).execute()
      await tx.insertInto('notes').values({ id: 'b', body: 'b' }).execute()
      throw bug
    })
    await assert.rejects(half, (error) => error === bug)
    assert.deepEqual(await ids(), [])
    await add('after')
    assert.deepEqual(await ids(), ['after'])
  })

  it('keeps nothing of a transaction whose statement fails', async () => {
    const half = database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'a', body: 'a' }).execute()
      await sql`insert into nowhere values (1)`.execute(tx)
    })
    await assert.rejects(half, /nowhere/)
    assert.deepEqual(await ids(), [])
    await add('after')
    assert.deepEqual(await ids(), ['after'])
  })

  it('loses no update of many that come at once', async () => {
    await add('counter')
    const increment = () =>
      database.transact((tx) =>
        tx
          .updateTable('notes')
          .set((eb) => ({ number: eb('number', '+', eb.lit(1)) }))
          .where('id', '=', 'counter')
          .execute(),
      )
    await Promise.all(Array.from({ length: 50 }, increment))
    const row = await database.db.selectFrom('notes').select('number').executeTakeFirst()
    assert.equal(row?.number, 50)
  })

  it('keeps every other transaction when some of many that come at once fail', async () => {
    const bug = new Error('half way')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) =>
        database.transact(async (tx) => {
          await tx
            .insertInto('notes')
            .values({ id: `${i}`, body: `${i}` })
            .execute()
          if (i % 3 === 0) throw bug
          // Only one of these can have the body of note 1.
          if (i % 7 === 0) await tx.updateTable('notes').set({ body: '1' }).where('id', '=', `${i}`).execute()
        }),
      ),
    )
    const kept = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${i}`] : []))
    assert.deepEqual(await ids(), kept.toSorted())
    for (const [i, outcome] of outcomes.entries()) {
      if (i % 3 === 0) assert.equal(outcome.status === 'rejected' && outcome.reason, bug)
      else if (outcome.status === 'rejected') {
        assert.ok(outcome.reason instanceof Duplicate)
        assert.ok(i % 7 === 0 || i === 1)
      }
    }
  })

  it('says when a transaction has been committed, and nothing of one that was not', async () => {
    const said: string[] = []
    await database.transact(async (tx) => {
      database.afterCommit(tx, () => said.push('first'))
      database.afterCommit(tx, () => said.push('second'))
      await tx.insertInto('notes').values({ id: 'new', body: 'x' }).execute()
      assert.deepEqual(said, [])
    })
    assert.deepEqual(said, ['first', 'second'])
    const half = database.transact(async (tx) => {
      database.afterCommit(tx, () => said.push('never'))
      throw new Error('half way')
    })
    await assert.rejects(half)
    assert.deepEqual(said, ['first', 'second'])
  })

  it('lets one transaction at a time work alone', async () => {
    let inside = 0
    let most = 0
    const alone = () =>
      database.transactAlone(async () => {
        inside++
        most = Math.max(most, inside)
        await new Promise(setImmediate)
        inside--
      })
    await Promise.all(Array.from({ length: 6 }, alone))
    assert.equal(most, 1)
  })

  it('orders text by code point', async () => {
    const ordered = [
      '',
      '-',
      '0',
      'A',
      'Z',
      '_',
      'a',
      'a b',
      'aa',
      'b',
      'z',
      '~',
      'Ä',
      'é',
      'ﬀ',
      '\uFFFD',
      '😀',
    ]
    for (const id of ordered.toReversed()) await add(id)
    assert.deepEqual(await ids(), ordered)
    const above = await database.db
      .selectFrom('notes')
      .select('id')
      .where('id', '>', 'z')
      .orderBy('id')
      .execute()
    assert.deepEqual(
      above.map(({ id }) => id),
      ['~', 'Ä', 'é', 'ﬀ', '\uFFFD', '😀'],
    )
  })

  it('gives integers back exactly, up to the largest a JSON number carries', async () => {
    const numbers = [0, 1, -1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
    for (const number of numbers) await add(String(number), number)
    const rows = await database.db.selectFrom('notes').select(['id', 'number']).execute()
    assert.deepEqual(new Set(rows.map(({ number }) => number)), new Set(numbers))
    for (const { id, number } of rows) assert.equal(id, String(number))
    const largest = await database.db
      .selectFrom('notes')
      .select((eb) => [eb.fn.max('number').as('max'), eb.fn.countAll().as('count')])
      .executeTakeFirst()
    assert.deepEqual({ ...largest }, { max: Number.MAX_SAFE_INTEGER, count: numbers.length })
  })

  it('tells of a value that is taken, whichever constraint found it', async () => {
    await add('taken')
    const bySecondary = database.transact(async (tx) => {
      await tx.insertInto('notes').values({ id: 'first', body: 'first' }).execute()
      await tx.insertInto('notes').values({ id: 'second', body: 'body taken' }).execute()
    })
    await assert.rejects(bySecondary, Duplicate)
    await assert.rejects(add('taken'), Duplicate)
    assert.deepEqual(await ids(), ['taken'])
  })

  it('does not take other broken constraints for a duplicate', async () => {
    const missing = database.transact((tx) => sql`insert into notes (id) values ('x')`.execute(tx))
    await assert.rejects(missing, (error) => !(error instanceof Duplicate))
  })

  it('tells of a full storage, keeps nothing, and writes again when there is room', async () => {
    await add('before')
    const roomFor = async (pages: number) => {
      if (database.dialect === 'sqlite')
        await sql`pragma max_page_count = ${sql.lit(pages)}`.execute(database.db)
    }
    // Less than there are stands for as many as there are.
    await roomFor(1)
    const fill = () =>
      database.transact(async (tx) => {
        for (let i = 0; i < 100; i++) {
          await tx
            .insertInto('notes')
            .values({ id: `fill ${i}`, body: `${i} ${'x'.repeat(10_000)}` })
            .execute()
          // No test can fill the disk of a PostgreSQL, but it can say that it is full.
          if (database.dialect === 'postgres') await sql.raw(DISK_FULL).execute(tx)
        }
      })
    await assert.rejects(fill(), OutOfSpace)
    assert.deepEqual(await ids(), ['before'])

    // Others that come at the same time are kept, or told the same.
    const [filled, ...others] = await Promise.allSettled([fill(), add('a'), fill(), add('b'), add('c')])
    assert.ok(filled.status === 'rejected' && filled.reason instanceof OutOfSpace)
    for (const other of others)
      if (other.status === 'rejected') assert.ok(other.reason instanceof OutOfSpace, String(other.reason))
    const kept = ['a', '', 'b', 'c'].filter((id, i) => id && others[i]?.status === 'fulfilled')
    assert.deepEqual(await ids(), [...kept, 'before'].toSorted())
    await database.transact((tx) => tx.deleteFrom('notes').where('id', '!=', 'before').execute())

    await roomFor(1_000_000)
    await add('later')
    assert.deepEqual(await ids(), ['before', 'later'])
  })

  it('runs a transaction from the start again when the database gave it up to end a deadlock', async () => {
    if (database.dialect === 'sqlite') return
    await add('a')
    await add('b')
    let attempts = 0
    const bothHoldOne = Promise.withResolvers<void>()
    const lockInOrder = (...order: string[]) =>
      database.transact(async (tx) => {
        for (const id of order) {
          await tx
            .updateTable('notes')
            .set((eb) => ({ number: eb('number', '+', eb.lit(1)) }))
            .where('id', '=', id)
            .execute()
          if (++attempts === 2) bothHoldOne.resolve()
          await bothHoldOne.promise
        }
      })
    await Promise.all([lockInOrder('a', 'b'), lockInOrder('b', 'a')])
    const rows = await database.db.selectFrom('notes').select('number').execute()
    assert.deepEqual(
      rows.map(({ number }) => number),
      [2, 2],
    )
    assert.ok(attempts > 4, 'neither transaction was begun again')
  })
})

const DISK_FULL = `do $$ begin raise exception using errcode = 'disk_full', message = 'no room'; end $$`
