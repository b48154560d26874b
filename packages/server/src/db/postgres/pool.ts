import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { DatabaseUnavailable, OutOfSpace } from '../../platform/outages.ts'
import { fieldOf } from '../dialect.ts'
import type { Outages } from '../outages.ts'
import { noted } from '../refusals.ts'
import { watchSilence } from './silence.ts'
import { isTooSlow, isUnreachable } from './unavailable.ts'

/** For a new connection, and for one of the pool to become free. */
const CONNECT_MS = 5_000

/** Nothing in a request or in the background takes so long; what does is ended by the server. */
const LIMITS = {
  statement_timeout: 60_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
}

const DISK_FULL = '53100'

interface PoolOptions {
  url: string
  size: number
  /** Whether statements may take as long as they like, as those of a migration do. */
  patient: boolean
  outages: Outages
}

/** Connections that tell whatever keeps them from the database as `DatabaseUnavailable`, and within a time. */
export function createPool({ url, size, patient, outages }: PoolOptions): PostgresPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(patient ? {} : LIMITS),
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  })
  // A connection that breaks is replaced on next use. Without a listener it would end the process: an idle one by the
  // pool's, one in the middle of a transaction by its own. Whoever uses it hears of it from the next query.
  pool.on('error', () => {})
  const open = new Set<pg.PoolClient & Unref>()
  pool.on('connect', (client) => {
    client.on('error', () => {})
    open.add(client as pg.PoolClient & Unref)
  })
  pool.on('remove', (client) => void open.delete(client as pg.PoolClient & Unref))
  const silence = watchSilence(url)
  const watched = new WeakMap<pg.PoolClient, PostgresPoolClient>()

  function toldAs(cause: unknown): unknown {
    if (fieldOf(cause, 'code') === DISK_FULL) return noted(new OutOfSpace('The storage is full', { cause }))
    if (isTooSlow(cause))
      return noted(new DatabaseUnavailable('The database took too long; try again in a moment', { cause }))
    if (!isUnreachable(cause)) return cause
    outages.began(cause)
    return noted(new DatabaseUnavailable('The database cannot be reached; try again in a moment', { cause }))
  }

  function watch(client: pg.PoolClient): PostgresPoolClient {
    const query = async (sql: string, parameters: unknown[]) => {
      const pending = silence.began(client)
      try {
        const result = await client.query(sql, parameters)
        outages.ended()
        return result
      } catch (error) {
        throw toldAs(error)
      } finally {
        silence.ended(pending)
      }
    }
    return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release() }
  }

  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw toldAs(error)
      })
      const known = watched.get(client) ?? watch(client)
      watched.set(client, known)
      return known
    },
    async end() {
      await pool.end()
      silence.stop()
      // To part takes an answer of the server, which the process need not wait for.
      for (const client of open) client.unref()
    },
  }
}

/** Has it, and the types do not know. */
interface Unref {
  unref(): void
}
