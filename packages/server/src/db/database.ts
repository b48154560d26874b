import { Kysely, sql, type Transaction } from 'kysely'
import { type DialectName, type OpenDialect, openPostgres, openSqlite } from './dialects.ts'
import { migrate } from './migrate.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { runDirectly } from './prepared.ts'

/** A storage that has no room left. Nothing of the transaction was kept. */
export class OutOfSpace extends Error {}

/** Something that must be unique would have been there twice. Nothing of the transaction was kept. */
export class Duplicate extends Error {}

export interface Database<Schema> {
  readonly dialect: DialectName
  /** For reading. Writers ask for a transaction in their signature, and get it from `transact`. */
  readonly db: Kysely<Schema>
  /**
   * Runs `work` in one transaction; where the database asks for it, from the start again. Throws `OutOfSpace` and
   * `Duplicate`, whatever the database calls them. `work` must wait for nothing but the database: others are waiting for
   * it, and what it waits for may be one of them.
   */
  transact<T>(work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Like `transact`, with every other process that calls it kept out until the end. */
  transactAlone<T>(work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Runs `callback` when the transaction has been committed, and never when it was not. It must not throw. */
  afterCommit(tx: Transaction<Schema>, callback: () => void): void
  /** Whether it can be reached. */
  answers(): Promise<boolean>
  close(): Promise<void>
}

export type DatabaseLocation = { sqlite: string } | { postgres: string; poolSize: number }

const ATTEMPTS = 5

/** Opens the database and brings its schema up to date. */
export async function openDatabase<Schema>(
  location: DatabaseLocation,
  steps: readonly Migration[] = migrations,
): Promise<Database<Schema>> {
  const dialect =
    'sqlite' in location ? openSqlite(location.sqlite) : openPostgres(location.postgres, location)
  const db = new Kysely<Schema>({ dialect: dialect.kysely })
  if (dialect.reads) runDirectly(db, dialect.reads)
  const committed = new WeakMap<Transaction<Schema>, (() => void)[]>()
  const transact = transactOn(db, dialect, (tx) => {
    for (const callback of committed.get(tx) ?? []) callback()
  })
  const database: Database<Schema> = {
    dialect: dialect.name,
    db,
    transact,
    transactAlone: (work) =>
      transact(async (tx) => {
        await dialect.lockExclusively(tx)
        return work(tx)
      }),
    afterCommit: (tx, callback) => {
      const callbacks = committed.get(tx)
      if (callbacks) callbacks.push(callback)
      else committed.set(tx, [callback])
    },
    answers: () =>
      // Built, not raw: only what is known to be a select goes to the reader of SQLite.
      db
        .selectNoFrom(sql`1`.as('one'))
        .execute()
        .then(
          () => true,
          () => false,
        ),
    close: () => dialect.close(db),
  }
  try {
    await database.transactAlone((tx) => migrate(tx, dialect, steps))
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

function transactOn<Schema>(
  db: Kysely<Schema>,
  dialect: OpenDialect,
  onCommitted: (tx: Transaction<Schema>) => void,
): Database<Schema>['transact'] {
  return async (work) => {
    for (let attempt = 1; ; attempt++) {
      let transaction: Transaction<Schema> | undefined
      try {
        const result = await dialect.transact(db, (tx) => {
          transaction = tx
          return work(tx)
        })
        if (transaction) onCommitted(transaction)
        return result
      } catch (error) {
        if (dialect.isOutOfSpace(error)) throw new OutOfSpace('The storage is full', { cause: error })
        if (dialect.isDuplicate(error)) throw new Duplicate('A unique value is taken', { cause: error })
        if (attempt === ATTEMPTS || !dialect.isRetryable(error)) throw error
      }
    }
  }
}
