import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { SqliteConnection, SqliteConnections, SqliteResult } from './sqlite-connections.ts'

/** Kysely over `node:sqlite`: selects go to the reader, everything else takes its turn at the writer. */
export class SqliteDialect implements Dialect {
  readonly #connections: SqliteConnections

  constructor(connections: SqliteConnections) {
    this.#connections = connections
  }

  createDriver(): Driver {
    return new SqliteDriver(this.#connections)
  }

  createQueryCompiler() {
    return new SqliteQueryCompiler()
  }

  createAdapter() {
    return new SqliteAdapter()
  }

  createIntrospector(db: Kysely<unknown>) {
    return new SqliteIntrospector(db)
  }
}

class SqliteDriver implements Driver {
  readonly #connections: SqliteConnections

  constructor(connections: SqliteConnections) {
    this.#connections = connections
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteSession> {
    return new SqliteSession(this.#connections)
  }

  async beginTransaction(session: SqliteSession): Promise<void> {
    await session.begin()
  }

  async commitTransaction(session: SqliteSession): Promise<void> {
    await session.end('commit')
  }

  async rollbackTransaction(session: SqliteSession): Promise<void> {
    await session.end('rollback')
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#connections.close()
  }
}

/** What Kysely takes for a connection: free to read at once, the writer only while it has something to write. */
class SqliteSession implements DatabaseConnection {
  readonly #connections: SqliteConnections
  #transaction: { writer: SqliteConnection; release: () => void } | undefined

  constructor(connections: SqliteConnections) {
    this.#connections = connections
  }

  async begin(): Promise<void> {
    const turn = await this.#connections.acquireWriter()
    try {
      // Taking the write lock first means a transaction never has to give up half way.
      await turn.writer.whenFree('begin immediate')
    } catch (error) {
      turn.release()
      throw error
    }
    this.#transaction = turn
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    const turn = this.#transaction
    if (!turn) return
    // A commit that fails leaves the transaction open for the rollback Kysely sends next.
    turn.writer.run(how)
    this.#transaction = undefined
    turn.release()
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#transaction) return present(this.#transaction.writer.run(sql, parameters))
    if (query.kind === 'SelectQueryNode') return present(this.#connections.read(sql, parameters))
    const { writer, release } = await this.#connections.acquireWriter()
    try {
      return present(await writer.whenFree(sql, parameters))
    } finally {
      release()
    }
  }

  // biome-ignore lint/correctness/useYield: nothing in Trellis streams rows.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming rows is not supported')
  }
}

const present = <R>({ rows, changes }: SqliteResult): QueryResult<R> => ({
  rows: rows as R[],
  ...(changes !== undefined && { numAffectedRows: changes }),
})
