import type { Bell } from '../background/bell.ts'
import { leased } from '../background/leased.ts'
import type { Work } from '../background/work.ts'
import * as lines from './line-store.ts'
import { type LineWorkerDeps, workLine } from './line-worker.ts'
import type { LineRow } from './store.ts'

interface SendingDeps extends LineWorkerDeps {
  /** Deliveries that may be in flight at once; none with 0. */
  concurrency: number
  /** How long a process may be silent before others take over its lines. */
  leaseMs: number
  /** Rung when deliveries were put into lines. */
  bell: Bell
}

/** Of all places, so that one receiver with many webhooks leaves some to the others. */
const RECEIVER_SHARE = 1 / 8
/** Receivers that fail may hold a connection for as long as it takes to time out; half of the places is theirs. */
const FAILING_SHARE = 1 / 2

/** Works at the lines of webhooks: each in the hands of one process at a time, many lines side by side. */
export function sendDeliveries(deps: SendingDeps): Work {
  const { database, clock, concurrency, leaseMs, bell } = deps
  const perReceiver = Math.max(1, Math.floor(concurrency * RECEIVER_SHARE))
  const forFailing = Math.max(1, Math.floor(concurrency * FAILING_SHARE))

  const giveBack = async (webhookIds: readonly string[], workerId: string) => {
    await database.transact((tx) => lines.returnLines(tx, webhookIds, workerId))
  }

  return leased<LineRow>({
    name: 'webhook sending',
    concurrency,
    leaseMs,
    bell,
    keyOf: ({ webhook_id }) => webhook_id,

    async claim({ workerId, room, inHand }) {
      const busy = new Map<string, number>()
      let failing = 0
      for (const line of inHand) {
        busy.set(line.origin, (busy.get(line.origin) ?? 0) + 1)
        if (line.failing_since !== null) failing++
      }
      const claimed = await lines.claimLines(database, {
        workerId,
        now: clock(),
        leaseMs,
        limit: room,
        without: [...busy].flatMap(([origin, count]) => (count >= perReceiver ? [origin] : [])),
        failingToo: failing < forFailing,
      })
      // What was claimed together may be too much of one receiver, or of failing ones.
      const taken: LineRow[] = []
      const surplus: string[] = []
      for (const line of claimed) {
        const count = busy.get(line.origin) ?? 0
        const isFailing = line.failing_since !== null
        if (count >= perReceiver || (isFailing && failing >= forFailing)) surplus.push(line.webhook_id)
        else {
          busy.set(line.origin, count + 1)
          if (isFailing) failing++
          taken.push(line)
        }
      }
      if (surplus.length > 0) await giveBack(surplus, workerId)
      return taken
    },

    work: (line, hold) => workLine(deps, hold, line),
    giveBack,
  })
}
