import type { Cause, NumberedEvent } from '@trellis/contract'
import type { RunRow } from './store.ts'

/** A run that another came from. */
interface Ancestor {
  id: string
  extension: string
  /** Somebody asked for it: nothing woke it. */
  asked?: true
}

/** Why a run is there. */
export interface Origin {
  eventId: string | null
  rootEventId: string | null
  depth: number
  ancestors: readonly Ancestor[]
}

export const MAX_DEPTH = 8
/** An extension that is woken again and again by what comes of its own runs. */
const MAX_WAKES = 2

/** Somebody asked for it. */
export const asked: Origin = { eventId: null, rootEventId: null, depth: 0, ancestors: [] }

/** What of a run tells where others came from. */
export type Lineage = Pick<RunRow, 'id' | 'extension' | 'trigger_kind' | 'ancestors'>

export const ancestorsOf = ({ ancestors }: Lineage): Ancestor[] => JSON.parse(ancestors)

function lineageOf(run: Lineage): Ancestor[] {
  const before = ancestorsOf(run)
  const isAsked = run.trigger_kind === 'dispatch' && before.length === 0
  return [...before, { id: run.id, extension: run.extension, ...(isAsked && { asked: true }) }]
}

/** What everything carries that a run causes. */
export const causeOf = (run: RunRow): Cause => ({
  ...(run.cause_event_id !== null && { eventId: run.cause_event_id }),
  runId: run.id,
  depth: run.depth + 1,
  chain: lineageOf(run).map(({ id }) => id),
  rootEventId: run.root_event_id,
})

/** Of a run that another run asks for. */
export const originOfChild = (parent: RunRow): Origin => ({
  eventId: null,
  rootEventId: parent.root_event_id,
  depth: parent.depth + 1,
  ancestors: lineageOf(parent),
})

/** Of a run that an event sets off; `parent` is the run that caused the event. */
export const originOfTriggered = (event: NumberedEvent, parent: Lineage | undefined): Origin => ({
  eventId: event.id,
  rootEventId: event.cause?.rootEventId ?? event.id,
  depth: event.cause?.depth ?? 0,
  ancestors: parent ? lineageOf(parent) : [],
})

/** Whether it goes on like this for too long: what wakes each other ends here. */
export const isEndless = ({ depth, ancestors }: Origin, extension: string): boolean =>
  depth > MAX_DEPTH ||
  ancestors.filter((one) => one.extension === extension && !one.asked).length >= MAX_WAKES
