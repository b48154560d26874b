// What is said between the server and the process of a run: JSON, a message a line.

import type { CallAnswer } from '../../ctx/errors.ts'
import type { LogBounds } from '../../ctx/logging.ts'
import type { Performance } from '../../ctx/perform.ts'
import type { LogLine } from '../../runtime.ts'

/** Told first, when the process has said that it is there. */
export interface Order {
  runId: string
  code: string
  input: unknown
  run: Readonly<Record<string, unknown>>
  capabilities: readonly string[]
  secrets: Readonly<Record<string, string>>
  log: LogBounds
  outputCharacters: number
}

/** To the process. */
export type Told = { order: Order } | { abort: string } | ({ call: number } & CallAnswer)

/** From the process. */
export type Said =
  | { ready: true }
  | { log: LogLine }
  | { call: number; method: string; args: readonly unknown[] }
  | { done: Performance }

/** Where the process has them. Both are closed to what it starts. */
export const DESCRIPTORS = { said: 3, told: 4 } as const
