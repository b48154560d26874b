import type { Dialect, Kysely, Transaction } from 'kysely'
import type { Direct } from './prepared.ts'

export type DialectName = 'sqlite' | 'postgres'

/** Column types for migrations: everything that has to be said differently to the two databases is said here. */
export interface ColumnTypes {
  /** Text ordered by code point, so that pages come in the same order everywhere. */
  text: string
  /** Exact up to 2^53. Also flags, as 0 and 1, and Unix milliseconds. */
  integer: string
  /** A true boolean, for tables whose rows a library writes. */
  boolean: string
  /** A point in time, for tables whose rows a library writes. */
  instant: string
  /** What a column of text hashes to: SHA-256 in base64url, as secrets are kept. */
  sha256(column: string): string
}

export interface OpenDialect {
  name: DialectName
  kysely: Dialect
  types: ColumnTypes
  /** A query for all columns there are, as `table_name` and `column_name`. */
  columns: string
  /** An expression for the bytes that all of it takes. */
  bytes: string
  /** Where prepared queries run at once, of a database that need not be waited for. */
  reads?: Direct
  transact<Schema, T>(db: Kysely<Schema>, work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Keeps out whoever else calls it: only one process migrates or initialises at a time, for as long as it takes. */
  transactAlone<Schema, T>(db: Kysely<Schema>, work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Throws when it cannot be reached. */
  reach(): Promise<void>
  /** Resolves when all that can be read now is there to stay; undefined where it is so already. */
  settled(): Promise<void> | undefined
  /** What an operator can do about a start that failed; undefined where that is not known. */
  inWords(error: unknown): Error | undefined
  close<Schema>(db: Kysely<Schema>): Promise<void>
  /** Whether the database gave up on a transaction for reasons that running it again will cure. */
  isRetryable(error: unknown): boolean
  /** Whether a row would have been the second with something that must be unique. */
  isDuplicate(error: unknown): boolean
}

/** Reads a field in which a driver says what went wrong. */
export const fieldOf = (error: unknown, name: string): unknown =>
  error instanceof Error ? Reflect.get(error, name) : undefined
