import type { NumberedEvent, Subscription } from '@trellis/contract'
import { createRecent } from '../platform/recent.ts'
import { compileSubscription, type Listens } from './subscriptions.ts'

/** How many compiled subscriptions are kept at hand. */
const COMPILED = 1_000
/** How much comparing one of them with one event may take, and all with all events of one change: a transaction is open. */
const STEPS_EACH = 1_000_000
const STEPS_TOGETHER = 3_000_000

/** Whether a subscription, as JSON, hears of an event. */
export type Hears = (subscription: string, event: NumberedEvent) => boolean

/**
 * Who hears of which event, for one change at a time, within an effort that all subscriptions and events of it share.
 * What could not be found out is heard: one too many is better than one too few.
 */
export function createHearings(): () => Hears {
  const compiled = createRecent<string, Listens>({ maxEntries: COMPILED })

  function listens(subscription: string): Listens {
    let found = compiled.get(subscription)
    if (!found) {
      found = compileSubscription(JSON.parse(subscription) as Subscription)
      compiled.set(subscription, found)
    }
    return found
  }

  return () => {
    let left = STEPS_TOGETHER
    let about: NumberedEvent | undefined
    /** Many often listen to the same. */
    const known = new Map<string, boolean>()
    return (subscription, event) => {
      if (event !== about) known.clear()
      about = event
      const before = known.get(subscription)
      if (before !== undefined) return before
      const given = Math.max(0, Math.min(STEPS_EACH, left))
      const effort = { steps: given }
      const isHeard = listens(subscription)(event, effort)
      left -= given - effort.steps
      known.set(subscription, isHeard)
      return isHeard
    }
  }
}
