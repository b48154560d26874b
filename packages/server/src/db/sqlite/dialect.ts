import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type LimitNode,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  Transaction,
} from 'kysely'
import { OutOfSpace } from '../../platform/outages.ts'
import type { Outages } from '../outages.ts'
import { type Direct, runDirectly } from '../prepared.ts'
import { Checkpoints } from './checkpoints.ts'
import { SqliteConnection, type SqliteResult } from './connection.ts'
import { LogSync } from './log-sync.ts'
import { TableChanges } from './table-changes.ts'
import { SqliteWriter, type WriterTurn } from './writer.ts'

/**
 * Kysely over `node:sqlite` in WAL mode. A reader sees the last commit and never waits for a writer, not even for one in
 * the middle of a transaction: then a second connection reads.
 */
export class SqliteDialect implements Dialect {
  readonly #driver: SqliteDriver

  constructor(path: string, outages: Pick<Outages, 'began'>) {
    this.#driver = new SqliteDriver(path, outages)
  }

  /** Reads what has been committed. */
  get reads(): Direct {
    return this.#driver
  }

  settled(): Promise<void> | undefined {
    return this.#driver.settled()
  }

  /** Runs `work` in a transaction. Kysely's own way there takes longer than most of what is done in one. */
  async transact<Schema, T>(db: Kysely<Schema>, work: (tx: Transaction<Schema>) => Promise<T>): Promise<T> {
    const session = await this.#driver.acquireConnection()
    const tx = new Transaction<Schema>({
      config: { dialect: this },
      dialect: this,
      driver: this.#driver,
      executor: db.getExecutor().withConnectionProvider(session),
    })
    runDirectly(tx, session)
    await session.begin()
    try {
      const result = await work(tx)
      await session.commit()
      return result
    } catch (error) {
      await session.rollback()
      throw error
    }
  }

  /** Kysely closes only what it has used itself. */
  close(): Promise<void> {
    return this.#driver.destroy()
  }

  createDriver(): Driver {
    return this.#driver
  }

  createQueryCompiler() {
    return new LimitCompiler()
  }

  createAdapter() {
    return new SqliteAdapter()
  }

  createIntrospector(db: Kysely<unknown>) {
    return new SqliteIntrospector(db)
  }
}

/**
 * SQLite plans a query for the number in its `limit`, and plans anew whenever a parameter there is bound, which takes
 * longer than to run it. It does not look into an expression.
 */
class LimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit 0 + ')
    this.visitNode(node.limit)
  }
}

class SqliteDriver implements Driver, Direct {
  readonly readOnly = true
  readonly #writing: SqliteConnection
  readonly #reading: SqliteConnection
  readonly #log: LogSync
  readonly #writer: SqliteWriter
  readonly #changes: TableChanges
  readonly #checkpoints: Checkpoints
  #isClosed = false

  constructor(path: string, outages: Pick<Outages, 'began'>) {
    this.#writing = new SqliteConnection(path, { readOnly: false })
    this.#reading = new SqliteConnection(path, { readOnly: true })
    this.#log = new LogSync(path, { onFailure: outages.began })
    settleLog(this.#writing)
    const checkpoints = new Checkpoints(path, this.#writing)
    this.#checkpoints = checkpoints
    const changes = new TableChanges(this.#writing)
    this.#changes = changes
    this.#writer = new SqliteWriter(this.#writing, this.#log, {
      onRun: (sql) => changes.note(sql),
      onCommitted: () => {
        changes.committed()
        checkpoints.committed()
      },
    })
  }

  settled(): Promise<void> | undefined {
    return this.#log.underWay
  }

  changesOf(tables: readonly string[]): number {
    return this.#changes.of(tables)
  }

  run(sql: string, parameters: readonly unknown[]): SqliteResult {
    this.#log.requireSound()
    return this.#reader().run(sql, parameters)
  }

  /**
   * Every commit of another connection makes SQLite forget all pages it has read. The one that writes keeps them, so it
   * reads too, unless it has written what is not committed.
   */
  #reader(): SqliteConnection {
    return this.#writing.inTransaction ? this.#reading : this.#writing
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteSession> {
    return new SqliteSession(this, this.#writer)
  }

  beginTransaction(session: SqliteSession): Promise<void> {
    return session.begin()
  }

  commitTransaction(session: SqliteSession): Promise<void> {
    return session.commit()
  }

  rollbackTransaction(session: SqliteSession): Promise<void> {
    return session.rollback()
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#writer.flush()
    await this.#log.close()
    await this.#checkpoints.close()
    this.#reading.close()
    this.#writing.close()
  }
}

/**
 * A log that is there at the start may be whole in memory and not on the disk, if that failed before, and what is added to
 * it would be lost with what is missing. So all of it is written once more, into the file, and a new one begun.
 */
function settleLog(connection: SqliteConnection): void {
  try {
    connection.run('pragma wal_checkpoint(truncate)')
  } catch (error) {
    // Of a disk that is full, what is there can still be read.
    if (!(error instanceof OutOfSpace)) throw error
  }
}

/** What Kysely takes for a connection: free to read at once, the writer's turn only for something to write. */
class SqliteSession implements DatabaseConnection, ConnectionProvider, Direct {
  readonly readOnly = false
  readonly #reader: Pick<SqliteConnection, 'run'>
  readonly #writer: SqliteWriter
  #turn: WriterTurn | undefined

  constructor(reader: Pick<SqliteConnection, 'run'>, writer: SqliteWriter) {
    this.#reader = reader
    this.#writer = writer
  }

  async begin(): Promise<void> {
    this.#turn = await this.#writer.begin()
  }

  async commit(): Promise<void> {
    await this.#turn?.commit()
  }

  async rollback(): Promise<void> {
    this.#turn?.rollback()
  }

  provideConnection<T>(consumer: (session: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this)
  }

  /** Only in a transaction. */
  run(sql: string, parameters: readonly unknown[]): SqliteResult {
    if (!this.#turn) throw new Error('No transaction has begun')
    return this.#turn.run(sql, parameters)
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#turn) return present(this.#turn.run(sql, parameters))
    if (query.kind === 'SelectQueryNode') return present(this.#reader.run(sql, parameters))
    const turn = await this.#writer.begin()
    try {
      const result = turn.run(sql, parameters)
      await turn.commit()
      return present(result)
    } catch (error) {
      turn.rollback()
      throw error
    }
  }

  /** Nothing in Trellis streams rows. */
  streamQuery(): never {
    throw new Error('Streaming rows is not supported')
  }
}

const present = <R>({ rows, changes }: SqliteResult): QueryResult<R> => ({
  rows: rows as R[],
  ...(changes !== undefined && { numAffectedRows: BigInt(changes) }),
})
