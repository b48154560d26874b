import type { Caller } from '../../access/caller.ts'
import { Fault } from '../../platform/fault.ts'
import { createPlaces } from '../../platform/places.ts'

const RETRY_AFTER_MS = 5_000

/** How many tails there may be: in all, of an organization and of one caller. Each is a connection that stays open. */
export function createTailPlaces({ total, perCaller }: { total: number; perCaller: number }) {
  const places = createPlaces({ size: total, perOwner: Math.ceil(total / 2), maxWaiting: 0 })
  const open = new Map<string, number>()
  return {
    get taken() {
      return places.running
    },

    async take({ actor, org }: Caller): Promise<Disposable> {
      const who = `${actor.kind}:${actor.id}`
      const own = open.get(who) ?? 0
      if (own >= perCaller) throw new Fault('TOO_MANY_REQUESTS', { retryAfterMs: RETRY_AFTER_MS })
      open.set(who, own + 1)
      const leave = () => {
        const left = (open.get(who) ?? 1) - 1
        if (left > 0) open.set(who, left)
        else open.delete(who)
      }
      try {
        const slot = await places.acquire({ id: org.id, isProvisional: org.provisional })
        const release = () => {
          slot.release()
          leave()
        }
        return { [Symbol.dispose]: release }
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}
