import type { Clock, Stopwatch } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../schema.ts'

/** Something that goes on beside the requests. Domains describe theirs; `background.ts` starts, watches and stops it. */
export interface Work {
  /** In logs and metrics. */
  name: string
  start(tools: Tools): Running
}

/** What is under way. */
export interface Running {
  /** Does it once, now; resolves when that is done. It does not throw. */
  run?(): Promise<void>
  /** Begins nothing new, and resolves when nothing is under way any more. */
  stop(): Promise<void>
}

/** What all background work is given. */
export interface Tools {
  database: Database
  clock: Clock
  stopwatch: Stopwatch
  /** Whether the clock can be trusted with what cannot be undone. */
  isSteady(): boolean
  log: Log
  /** Logs what went wrong, if it is news. */
  complain(message: string, about: { error: unknown; [field: string]: unknown }): void
  /** Runs a piece of work, measured. A failure is logged and goes no further: false, too, when `signal` stopped it. */
  attempt(
    name: string,
    work: () => Promise<void>,
    about?: { signal?: AbortSignal; item?: string },
  ): Promise<boolean>
  /** How long what is under way may take to finish when it is told to stop. */
  shutdownMs: number
}
