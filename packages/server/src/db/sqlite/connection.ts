import { hash } from 'node:crypto'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { OutOfSpace } from '../../platform/outages.ts'
import { createRecent } from '../../platform/recent.ts'
import { fieldOf } from '../dialect.ts'
import { noted } from '../refusals.ts'

const BUSY = 5
const FULL = 13
/** That of the log, which lies beside it: what there is told as a failure to read or write. */
const NO_ROOM_FOR_INDEX = 4874
const BUSY_DEADLINE_MS = 30_000
const STATEMENTS_KEPT = 512
/** What it may keep of the file in memory. SQLite's own 2 MB do not hold the upper pages of a large database. */
const CACHE_KIB = 32 * 1024

/** The name of a function for migrations: SQLite has none of its own. */
export const SHA256 = 'sha256_base64url'

export interface SqliteResult {
  rows: unknown[]
  /** How many rows a statement changed that returns none. */
  changes?: number
}

interface KeptStatement {
  statement: StatementSync
  /** Undefined for a statement that returns no rows. */
  nameRow: NameRow | undefined
}

type NameRow = (values: SQLOutputValue[]) => Record<string, unknown>

/** One connection with its prepared statements. */
export class SqliteConnection {
  readonly #db: DatabaseSync
  readonly #statements = createRecent<string, KeptStatement>({ maxEntries: STATEMENTS_KEPT })

  constructor(path: string, { readOnly }: { readOnly: boolean }) {
    // A busy timeout inside SQLite would block the whole process; `whenFree` waits without blocking instead.
    this.#db = new DatabaseSync(path, { readOnly, timeout: 0 })
    this.#db.exec('pragma foreign_keys = on')
    if (readOnly) return
    this.#changeOverToWal()
    // Commits are synced by `LogSync`.
    this.#db.exec('pragma synchronous = normal')
    this.#db.exec(`pragma cache_size = -${CACHE_KIB}`)
    this.#db.function(SHA256, { deterministic: true }, (text) => hash('sha256', String(text), 'base64url'))
  }

  get inTransaction(): boolean {
    // One that is closed throws.
    return this.#db.isOpen && this.#db.isTransaction
  }

  run(sql: string, parameters: readonly unknown[] = []): SqliteResult {
    try {
      const { statement, nameRow } = this.#prepare(sql)
      const values = parameters as SQLInputValue[]
      if (!nameRow) return { rows: [], changes: Number(statement.run(...values).changes) }
      // The types do not know that rows come as arrays.
      return { rows: (statement.all(...values) as unknown as SQLOutputValue[][]).map(nameRow) }
    } catch (cause) {
      throw isFull(cause) ? noted(new OutOfSpace('The storage is full', { cause })) : cause
    }
  }

  /** The rows of a query one by one, however many there are. */
  *each(sql: string): Generator<Record<string, unknown>> {
    const { statement, nameRow } = this.#prepare(sql)
    if (!nameRow) return
    for (const values of statement.iterate()) yield nameRow(values as unknown as SQLOutputValue[])
  }

  /** Runs a statement that takes the write lock, waiting while another process holds it. */
  async whenFree(sql: string): Promise<void> {
    const deadline = performance.now() + BUSY_DEADLINE_MS
    for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
      try {
        this.run(sql)
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
        await sleep(pause)
      }
    }
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }

  /** Needs the file for itself, if other processes are opening it too. At the start there is nothing else to do. */
  #changeOverToWal(): void {
    const deadline = performance.now() + BUSY_DEADLINE_MS
    for (;;) {
      try {
        this.#db.exec('pragma journal_mode = wal')
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      }
    }
  }

  #prepare(sql: string): KeptStatement {
    const kept = this.#statements.get(sql)
    if (kept) return kept
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name)
    const fresh = { statement, nameRow: columns.length > 0 ? rowNamer(columns) : undefined }
    this.#statements.set(sql, fresh)
    return fresh
  }
}

/**
 * The objects `node:sqlite` makes of rows are hash tables, slow to make and to read: a page of ten takes twice as long
 * as with objects made of arrays. And to name the columns one after the other takes eight times as long as where they
 * are written down.
 */
function rowNamer(columns: readonly string[]): NameRow {
  if (columns.includes('__proto__')) throw new Error('a column cannot be called __proto__')
  const fields = columns.map((name, i) => `${JSON.stringify(name)}: values[${i}]`)
  return new Function('values', `return { ${fields.join(', ')} }`) as NameRow
}

const errcodeOf = (error: unknown) => Number(fieldOf(error, 'errcode') ?? 0)

const isBusy = (error: unknown) => (errcodeOf(error) & 0xff) === BUSY

const isFull = (error: unknown) =>
  (errcodeOf(error) & 0xff) === FULL || errcodeOf(error) === NO_ROOM_FOR_INDEX
