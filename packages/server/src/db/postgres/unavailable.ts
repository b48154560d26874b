import { fieldOf } from '../dialect.ts'

/** What the system says when nobody is there, or nobody any more. */
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  // A socket that is a file.
  'ENOENT',
])

/** Said by the driver, in words alone. */
const WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client .*not queryable)/

/** The server goes down, comes up, or has no place left. */
const SQLSTATES = /^(08|57P0[1-5]$|53300$|25P03$)/

/** It is there, and takes too long: a statement, or a lock that somebody holds. */
const SLOW_SQLSTATES = /^(57014|55P03)$/

/** Whether a failure is of reaching the database, and not of what it was asked. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof AggregateError
    ? error.errors.every(isUnreachable)
    : error instanceof Error &&
      (SYSTEM_CODES.has(codeOf(error)) || SQLSTATES.test(codeOf(error)) || WORDS.test(error.message))

export const isTooSlow = (error: unknown): boolean => SLOW_SQLSTATES.test(codeOf(error))

const codeOf = (error: unknown): string => String(fieldOf(error, 'code') ?? '')
