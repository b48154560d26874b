import type { SqliteConnection } from './connection.ts'

/** How long a commit of another process may stay unseen: to ask costs as much as to read a row. */
const LOOK_EVERY_MS = 10

/** What a statement writes into, when it says so at its beginning. */
const WRITTEN_TABLE = /^(?:insert into|update) "?(\w+)"?/i
const READS_ONLY = /^(?:select|pragma|savepoint|release|rollback)\b/i

/**
 * Counts the changes of every table, so that what was read from one can be kept until it changes. Whatever is not
 * plainly a change of one table counts as a change of all: a delete takes along what refers to its rows.
 */
export class TableChanges {
  readonly #connection: SqliteConnection
  readonly #counts = new Map<string, number>()
  readonly #touched = new Set<string>()
  #touchedAll = false
  #ofAll = 0
  #dataVersion: unknown
  #lookedAt = Number.NEGATIVE_INFINITY

  /** Of the connection that writes: it hears of the commits of all others. */
  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  /** Notes a statement of a transaction, whether it will be committed or not. */
  note(sql: string): void {
    if (READS_ONLY.test(sql)) return
    const table = WRITTEN_TABLE.exec(sql)?.[1]
    if (table) this.#touched.add(table)
    else this.#touchedAll = true
  }

  /** From now on readers see what was noted. */
  committed(): void {
    if (this.#touchedAll) this.#ofAll += 1
    for (const table of this.#touched) this.#counts.set(table, (this.#counts.get(table) ?? 0) + 1)
    this.#touchedAll = false
    this.#touched.clear()
  }

  /** Grows with every change of any of these tables. */
  of(tables: readonly string[]): number {
    const now = performance.now()
    if (now - this.#lookedAt >= LOOK_EVERY_MS) this.#look(now)
    let sum = this.#ofAll
    for (const table of tables) sum += this.#counts.get(table) ?? 0
    return sum
  }

  /** Another process may have written: an administrator's command, for one. */
  #look(now: number): void {
    this.#lookedAt = now
    const [row] = this.#connection.run('pragma data_version').rows as { data_version: unknown }[]
    if (row?.data_version === this.#dataVersion) return
    this.#dataVersion = row?.data_version
    this.#ofAll += 1
  }
}
