import type { NumberedEvent } from '@trellis/contract'
import { bySystem, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import { isEndless, type Origin } from '../runs/causes.ts'
import { MAX_INPUT_BYTES } from '../runs/queue-room.ts'
import type { Waking } from '../runs/waking.ts'
import type { Tx } from '../schema.ts'
import { type DaemonRow, updateDaemon } from './store.ts'

/** What a wake is told of. */
interface Batch {
  events: NumberedEvent[]
  /** Where the most of what caused them lies; undefined without events. */
  cause: { event: NumberedEvent; origin: Origin } | undefined
  /** Up to here the log has been read, and how many events were found there. */
  to: number | null
  count: number
  /** How many wait, these included. */
  pendingCount: number
}

export const MOST_EVENTS = 100
/** The rest of the input is what else there is of events. */
const MOST_BYTES = MAX_INPUT_BYTES * 0.75

interface PendingDeps {
  events: EventsService
  waking: Pick<Waking, 'originsIn'>
}

/** Reads the events that a daemon has not taken yet, the oldest first, so many that one wake may be told of them. */
export function createPending({ events, waking }: PendingDeps) {
  /**
   * Only what goes on in the same way may be told together: an event that came of the daemon's own wakes would make the
   * others look like it, and what comes of them would end before its time.
   */
  async function alike(tx: Tx, daemon: DaemonRow, found: readonly NumberedEvent[]) {
    const origins = await waking.originsIn(tx, found)
    const kindOf = (origin: Origin | undefined) => {
      if (!origin) return undefined
      if (isEndless(origin, daemon.name)) return 'endless'
      return origin.ancestors.filter(({ extension }) => extension === daemon.name).length
    }
    const kind = kindOf(origins[0])
    const other = origins.findIndex((origin) => kindOf(origin) !== kind)
    const taken = other < 0 ? [...found] : found.slice(0, other)
    return { taken, origins, isEndless: kind === 'endless' }
  }

  /** What must not wake it is told in the log, once for all of it, and left behind. */
  async function rejectIn(
    tx: Tx,
    daemon: DaemonRow,
    rejected: readonly NumberedEvent[],
    reason: string,
  ): Promise<void> {
    const [first] = rejected
    if (!first) return
    await events.append(tx, {
      ...bySystem,
      ...(first.cause && { cause: first.cause }),
      scope: repoScope(daemon.repo_id),
      type: 'run.rejected',
      subject: daemon.name,
      payload: { extension: daemon.name, reason, ...(rejected.length > 1 && { count: rejected.length }) },
    })
  }

  return {
    /** The log must be locked. What is left behind is so in this transaction, the rest when the wake succeeds. */
    async takeIn(tx: Tx, daemon: DaemonRow): Promise<Batch> {
      const { pending_from, pending_count, event_types } = daemon
      const none = { events: [], cause: undefined, to: null, count: 0 }
      if (pending_from === null || event_types === null) return { ...none, pendingCount: 0 }
      const { events: found, ...read } = await events.readSome(tx, {
        scope: repoScope(daemon.repo_id),
        above: pending_from - 1,
        types: JSON.parse(event_types),
        limit: MOST_EVENTS,
        maxBytes: MOST_BYTES,
      })
      const heard = found.filter(({ type }) => type !== 'run.rejected')
      const { taken, origins, isEndless } = await alike(tx, daemon, heard)
      const to = taken.length < heard.length ? (taken.at(-1)?.seq ?? read.to) : read.to
      const isAll = read.isAll && taken.length === heard.length
      const isTooLarge = Buffer.byteLength(JSON.stringify(taken)) > MAX_INPUT_BYTES
      if (taken.length === 0 || isEndless || isTooLarge) {
        const left = isAll ? 0 : Math.max(1, pending_count - taken.length)
        await updateDaemon(tx, daemon.id, {
          pending_from: left > 0 ? to + 1 : null,
          pending_count: left,
        })
        const reason = isEndless ? 'depth_exceeded' : `input_invalid: more than ${MAX_INPUT_BYTES} bytes`
        await rejectIn(tx, daemon, taken, reason)
        return { ...none, pendingCount: left }
      }
      const deepest = taken.reduce(
        (best, _event, i) => ((origins[i]?.depth ?? 0) > (origins[best]?.depth ?? 0) ? i : best),
        0,
      )
      const [event, origin] = [taken[deepest], origins[deepest]]
      return {
        events: taken,
        cause: event && origin && { event, origin },
        to,
        // Whatever was counted wrong is right again when all is read.
        count: isAll ? pending_count : taken.length,
        pendingCount: pending_count,
      }
    },
  }
}
