import { Kysely, sql, type Transaction } from 'kysely'
import type { DialectName, OpenDialect } from './dialect.ts'
import { migrate, requireCurrent } from './migrate.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { type LongTransaction, type OpenTransactions, trackTransactions } from './open-transactions.ts'
import { type OutageListener, trackOutages } from './outages.ts'
import { openPostgres } from './postgres/open.ts'
import { runDirectly } from './prepared.ts'
import { reach } from './reaching.ts'
import { openSqlite } from './sqlite/open.ts'

/** Something that must be unique would have been there twice. Nothing of the transaction was kept. */
export class Duplicate extends Error {}

export interface Database<Schema> {
  readonly dialect: DialectName
  /** For reading. Writers ask for a transaction in their signature, and get it from `transact`. */
  readonly db: Kysely<Schema>
  /**
   * Runs `work` in one transaction; where the database asks for it, from the start again. Throws `OutOfSpace`,
   * `Duplicate` and `DatabaseUnavailable`, whatever the database calls them. `work` must wait for nothing but the database: others are waiting for
   * it, and what it waits for may be one of them. Another transaction inside it throws.
   */
  transact<T>(work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Like `transact`, with every other process that calls it kept out until the end. */
  transactAlone<T>(work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Runs `callback` when the transaction has been committed, and never when it was not. It must not throw. */
  afterCommit(tx: Transaction<Schema>, callback: () => void): void
  /**
   * Resolves when all that can be read now is there to stay; undefined where it is so already. For whoever tells others of
   * what they found as of something done.
   */
  settled(): Promise<void> | undefined
  /** Whether it can be reached. */
  answers(): Promise<boolean>
  /** What all of it takes on the disk it is on. */
  bytes(): Promise<number>
  close(): Promise<void>
}

export type DatabaseLocation = { sqlite: string } | { postgres: string; poolSize: number }

export interface DatabaseOptions extends OutageListener {
  /** How long to wait for one that cannot be reached yet. */
  waitMs?: number
  onWaiting?(waiting: { ms: number; error: unknown }): void
  steps?: readonly Migration[]
  /** Refuse a database that is not up to date instead of bringing it there: another process may be using it. */
  asItIs?: boolean
  /** Hears of transactions that stay open for longer than any should. */
  onLongTransaction?(long: LongTransaction): void
  longTransactionMs?: number
}

const ATTEMPTS = 5
const LONG_TRANSACTION_MS = 1_000

/** Opens the database and brings its schema up to date. */
export async function openDatabase<Schema>(
  location: DatabaseLocation,
  options: DatabaseOptions = {},
): Promise<Database<Schema>> {
  const { steps = migrations, onLongTransaction = () => {} } = options
  const outages = trackOutages(options)
  const dialect =
    'sqlite' in location
      ? openSqlite(location.sqlite, { outages })
      : openPostgres(location.postgres, { ...location, outages })
  const db = new Kysely<Schema>({ dialect: dialect.kysely })
  if (dialect.reads) runDirectly(db, dialect.reads)
  const open = trackTransactions(options.longTransactionMs ?? LONG_TRANSACTION_MS, onLongTransaction)
  const committed = new WeakMap<Transaction<Schema>, (() => void)[]>()
  const onCommitted = (tx: Transaction<Schema>) => {
    for (const callback of committed.get(tx) ?? []) callback()
  }
  const database: Database<Schema> = {
    dialect: dialect.name,
    db,
    transact: transactOn({ db, dialect, open, onCommitted, run: dialect.transact }),
    transactAlone: transactOn({ db, dialect, open, onCommitted, run: dialect.transactAlone }),
    afterCommit: (tx, callback) => {
      const callbacks = committed.get(tx)
      if (callbacks) callbacks.push(callback)
      else committed.set(tx, [callback])
    },
    settled: () => dialect.settled(),
    answers: () =>
      // Built, not raw: only what is known to be a select goes to the reader of SQLite.
      db
        .selectNoFrom(sql`1`.as('one'))
        .execute()
        .then(
          () => true,
          () => false,
        ),
    bytes: async () => {
      const row = await db.selectNoFrom(sql.raw<number>(dialect.bytes).as('bytes')).executeTakeFirstOrThrow()
      return (row as { bytes: number }).bytes
    },
    close: () => {
      open.stop()
      return dialect.close(db)
    },
  }
  try {
    await reach(() => dialect.reach(), { waitMs: 0, ...options })
    await database.transactAlone((tx) =>
      options.asItIs ? requireCurrent(tx, steps) : migrate(tx, dialect, steps),
    )
  } catch (error) {
    await database.close()
    throw dialect.inWords(error) ?? error
  }
  return database
}

function transactOn<Schema>({
  db,
  dialect,
  open,
  onCommitted,
  run,
}: {
  db: Kysely<Schema>
  dialect: OpenDialect
  open: OpenTransactions
  onCommitted(tx: Transaction<Schema>): void
  run: OpenDialect['transact']
}): Database<Schema>['transact'] {
  return async (work) => {
    open.refuseNested()
    for (let attempt = 1; ; attempt++) {
      let transaction: Transaction<Schema> | undefined
      try {
        const result = await run(db, (tx) => {
          transaction = tx
          return open.run(tx, work)
        })
        if (transaction) onCommitted(transaction)
        return result
      } catch (error) {
        if (dialect.isDuplicate(error)) throw new Duplicate('A unique value is taken', { cause: error })
        if (attempt === ATTEMPTS || !dialect.isRetryable(error)) throw error
      }
    }
  }
}
