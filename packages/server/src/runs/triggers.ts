import type { Cause, NumberedEvent, RunTrigger, Runtime } from '@trellis/contract'
import { createHearings, type Hears } from '../events/hearing.ts'
import { type Appending, bySystem, type Subscriber } from '../events/service.ts'
import { repoIdOf, repoScope } from '../events/types.ts'
import { CANONICAL_REF } from '../extensions/canonical-ref.ts'
import { readRunnables } from '../extensions/runnable.ts'
import { createPausesInTransaction } from '../platform/pauses.ts'
import type { Database, Tx } from '../schema.ts'
import { type Lineage, originOfTriggered } from './causes.ts'
import { deleteProposals } from './proposal-store.ts'
import type { Proposing } from './proposing.ts'
import type { QueueRoom } from './queue-room.ts'
import { reasonAgainst } from './rejecting.ts'
import * as steps from './step-store.ts'
import * as store from './store.ts'
import type { NewRun, Transitions } from './transitions.ts'
import * as triggers from './trigger-store.ts'

interface TriggersDeps {
  database: Database
  transitions: Pick<Transitions, 'queueIn'>
  proposing: Proposing
  queueRoom: QueueRoom
  runtimes: ReadonlySet<Runtime>
  /** A workflow may go on. */
  onArrived(runId: string): void
}

/** An extension that wants to hear of an event. */
interface Wake {
  extension: string
  trigger: RunTrigger
  event: NumberedEvent
  input: unknown
}

/** What could not be run, and why. */
type Rejection = Pick<Wake, 'extension' | 'event'> & { reason: string }

/** Queues a run of every extension that listens to an event, in the transaction of the event itself. */
export function createTriggers(deps: TriggersDeps): Subscriber {
  const { database, transitions, proposing, queueRoom, runtimes, onArrived } = deps
  const newHearing = createHearings()

  return async (tx, scope, events, log) => {
    const repoId = repoIdOf(scope)
    if (!repoId) return
    if (events.some(({ type }) => type === 'repo.deleted')) {
      await deleteProposals(tx, repoId)
      return triggers.deleteTriggers(tx, repoId)
    }
    const rows = await triggers.listTriggers(tx, { repoId })
    if (rows.length === 0) return
    const hears = newHearing()
    const [waiting, starting] = [rows.filter(isWaiting), rows.filter((row) => !isWaiting(row))]
    for (const event of events) await arriveIn(tx, waiting, event, hears)
    const wakes = await wakesOf(starting, events, hears)
    if (wakes.length > 0) await wakeIn(tx, { repoId, wakes, log })
  }

  /** The first event that a step waits for is what it gets. */
  async function arriveIn(
    tx: Tx,
    waiting: readonly triggers.TriggerRow[],
    event: NumberedEvent,
    hears: Hears,
  ): Promise<void> {
    for (const { repo_id: repoId, run_id: runId, step, on_event } of waiting) {
      if (!on_event || !hears(on_event, event)) continue
      await steps.setArrived(tx, runId, step, JSON.stringify(seenOf(event)))
      await triggers.deleteWaits(tx, { repoId, runId, step })
      database.afterCommit(tx, () => onArrived(runId))
    }
  }

  async function wakeIn(
    tx: Tx,
    { repoId, wakes, log }: { repoId: string; wakes: readonly Wake[]; log: Appending },
  ): Promise<void> {
    const place = await triggers.findPlace(tx, repoId)
    if (!place) return
    const isFrozen = place.read_only === 1 || place.frozen === 1
    const repo = { id: repoId, orgId: place.org_id, isProvisional: place.expires_at !== null }
    const targets = await readRunnables(tx, repoId, [...new Set(wakes.map(({ extension }) => extension))])
    const parents = await parentsOf(
      tx,
      wakes.map(({ event }) => event),
    )
    let room = await queueRoom.findIn(tx, repo)
    const runs: NewRun[] = []
    const proposed: { run: NewRun; cause: Cause | undefined }[] = []
    const rejections: Rejection[] = []
    const pause = createPausesInTransaction()
    for (const wake of wakes) {
      const target = targets.get(wake.extension)
      if (!target) continue
      await pause()
      const parent = wake.event.cause && parents.get(wake.event.cause.runId)
      const origin = originOfTriggered(wake.event, parent)
      const input = JSON.stringify(wake.input)
      const reason = reasonAgainst({ isFrozen, room, origin, target, input }, runtimes)
      if (reason) rejections.push({ ...wake, reason })
      else {
        room--
        const run = runOf(wake, { repo, target, origin, input })
        if (target.inputSchema === undefined) runs.push(run)
        else proposed.push({ run, cause: wake.event.cause })
      }
    }
    await transitions.queueIn(tx, log, runs)
    await proposing.proposeIn(tx, repo, proposed)
    await rejectIn(tx, repoId, rejections, log)
  }
}

const isWaiting = ({ run_id }: triggers.TriggerRow): boolean => run_id !== ''

async function wakesOf(
  rows: readonly triggers.TriggerRow[],
  events: readonly NumberedEvent[],
  hears: Hears,
): Promise<Wake[]> {
  const wakes: Wake[] = []
  const pause = createPausesInTransaction()
  for (const event of events) {
    // What tells that a run was not to be must not ask for another.
    if (event.type === 'run.rejected') continue
    for (const row of rows) {
      const { extension } = row
      const hook = hookOf(row, event)
      if (hook) wakes.push({ extension, event, trigger: 'record', input: hook })
      if (row.on_push && hears(row.on_push, event))
        wakes.push({ extension, event, trigger: 'push', input: event.payload ?? {} })
      else if (row.on_event && hears(row.on_event, event))
        wakes.push({ extension, event, trigger: 'event', input: seenOf(event) })
      await pause()
    }
  }
  return wakes
}

/** What a hook is told of a row that was made, or has changed its state. */
function hookOf(row: triggers.TriggerRow, { type, payload }: NumberedEvent): object | undefined {
  const isHook =
    (type === 'record.created' && row.on_create === 1) ||
    (type === 'record.transitioned' && row.on_transition === 1)
  if (!isHook || row.record_name === null) return undefined
  const told = payload as { record: string; row: object; before?: object }
  if (told.record !== row.record_name) return undefined
  return type === 'record.created'
    ? { hook: 'create', record: told.record, row: told.row }
    : { hook: 'transition', record: told.record, row: told.row, before: told.before }
}

/** An event as a module gets it. */
export const seenOf = ({ id, seq, type, ts, subject, actor, payload, cause }: NumberedEvent) => ({
  id,
  seq,
  type,
  ts,
  subject: subject ?? null,
  actor,
  payload: payload ?? null,
  cause: cause ?? null,
})

/** The runs that caused the events. */
export async function parentsOf(tx: Tx, events: readonly NumberedEvent[]): Promise<Map<string, Lineage>> {
  const ids = new Set(events.flatMap(({ cause }) => cause?.runId ?? []))
  const rows = ids.size === 0 ? [] : await store.listLineages(tx, [...ids])
  return new Map(rows.map((row) => [row.id, row]))
}

function runOf(
  { trigger, event }: Wake,
  { repo, target, origin, input }: Pick<NewRun, 'repo' | 'target' | 'origin' | 'input'>,
): NewRun {
  const { actor } = event
  const run = { repo, target, trigger, actor, effective: target.effective, input, origin }
  if (trigger !== 'push') return { ...run, ref: CANONICAL_REF, commit: target.commit }
  const { ref, before, after } = movedIn(event.payload)
  return { ...run, ref, before, after, commit: after }
}

interface Moved {
  ref: string
  before: string | null
  after: string | null
}

/** The ref a push moved; of many that share an event the first, and the others are in the input. */
function movedIn(payload: unknown): Moved {
  const { refs } = payload as { refs?: readonly Moved[] }
  return refs?.[0] ?? (payload as Moved)
}

/** However many events there were, each extension is told of once for each reason. */
async function rejectIn(
  tx: Tx,
  repoId: string,
  rejections: readonly Rejection[],
  log: Appending,
): Promise<void> {
  const byReason = Map.groupBy(rejections, ({ extension, reason }) => `${extension} ${reason}`)
  await log.appendAll(
    tx,
    repoScope(repoId),
    [...byReason.values()].flatMap((alike) => {
      const [first] = alike
      if (!first) return []
      const { extension, reason, event } = first
      return {
        ...bySystem,
        ...(event.cause && { cause: event.cause }),
        type: 'run.rejected' as const,
        subject: extension,
        payload: { extension, reason, ...(alike.length > 1 && { count: alike.length }) },
      }
    }),
  )
}
