import type { Database } from '../schema.ts'
import * as lines from './line-store.ts'

/** How an attempt ended, and what that says about the receiver. */
export interface Report {
  outcome: lines.Outcome
  webhookId: string
  /** Set when the receiver began to fail, null when it works again, undefined when nothing changed. */
  failingSince?: number | null | undefined
}

export type Recorder = ReturnType<typeof createRecorder>

/**
 * Writes down how attempts ended, all that came together in one transaction. Lines go on meanwhile: what is not yet
 * written when the process dies is delivered once more.
 */
export function createRecorder({ database }: { database: Database }) {
  let waiting: Report[] = []
  let writing: Promise<void> | undefined

  async function flush(): Promise<void> {
    const reports = waiting
    waiting = []
    writing = undefined
    await database.transact(async (tx) => {
      for (const { outcome } of reports) await lines.recordOutcome(tx, outcome)
      for (const { webhookId, failingSince } of reports)
        if (failingSince !== undefined) await lines.updateLine(tx, webhookId, { failing_since: failingSince })
    })
  }

  return {
    /** Resolves when it is on disk. */
    record(report: Report): Promise<void> {
      waiting.push(report)
      if (!writing) {
        writing = new Promise<void>((resolve) => setImmediate(resolve)).then(flush)
        // Whoever recorded something hears of a failure when they ask; that may be later.
        writing.catch(() => {})
      }
      return writing
    },
  }
}
