import type { Database } from '../schema.ts'
import * as lines from './line-store.ts'

/** How an attempt ended, and what that says about the receiver. */
export interface Report {
  outcome: lines.Outcome
  webhookId: string
  /** What the delivery counts for in its line while it is pending. */
  bytes: number
  /** Set when the receiver began to fail, null when it works again, undefined when nothing changed. */
  failingSince?: number | null | undefined
}

export type Recorder = ReturnType<typeof createRecorder>

/** How long a report may wait for others to be written with it. */
const GATHER_MS = 20

/**
 * Writes down how attempts ended, all that came together in one transaction: syncing the disk costs more than a
 * delivery. Lines go on meanwhile; what is not yet written when the process dies is delivered once more.
 */
export function createRecorder({ database }: { database: Database }) {
  let waiting: Report[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  async function write(reports: readonly Report[]): Promise<void> {
    if (reports.length === 0) return
    await database.transact(async (tx) => {
      const ended = new Map<string, number>()
      for (const { outcome, webhookId, bytes } of reports) {
        const isRecorded = (await lines.recordOutcome(tx, outcome)) > 0
        if (isRecorded && outcome.status !== 'pending')
          ended.set(webhookId, (ended.get(webhookId) ?? 0) + bytes)
      }
      for (const [webhookId, bytes] of ended) await lines.subtractPending(tx, webhookId, bytes)
      for (const { webhookId, failingSince } of reports)
        if (failingSince !== undefined) await lines.updateLine(tx, webhookId, { failing_since: failingSince })
    })
  }

  /** Writes what is there. Resolves when everything recorded before is on disk. */
  async function settle(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const before = writing
    const reports = waiting
    waiting = []
    const written = before.catch(() => {}).then(() => write(reports))
    writing = written
    // Whoever recorded something hears of a failure when they ask; that may be later.
    written.catch(() => {})
    await before
    await written
  }

  return {
    settle,
    record(report: Report): void {
      waiting.push(report)
      timer ??= setTimeout(() => void settle().catch(() => {}), GATHER_MS)
    },
  }
}
