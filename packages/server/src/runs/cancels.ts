import type { Db } from '../schema.ts'
import * as store from './store.ts'

/** What is cancelled through another process is found by looking. */
const LOOK_EVERY_MS = 1_000

export type Cancels = ReturnType<typeof createCancels>

/** Tells those who run something that it is to end. */
export function createCancels({ db }: { db: Db }) {
  const running = new Map<string, { workerId: string; controller: AbortController }>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false

  const cancel = (id: string) => running.get(id)?.controller.abort(new Cancelled())

  async function look(): Promise<void> {
    // Those of now: while the database is asked a run may fall asleep, wake and be here again.
    const looked = [...running].filter(([, { controller }]) => !controller.signal.aborted)
    if (looked.length === 0 || isLooking) return
    isLooking = true
    const ids = looked.map(([id]) => id)
    // A look that fails is followed by another.
    const goingOn = await store.listGoingOn(db, ids).catch(() => undefined)
    isLooking = false
    if (!goingOn) return
    for (const [id, { workerId, controller }] of looked) {
      const holder = goingOn.get(id)
      if (holder !== workerId) controller.abort(holder === undefined ? new Cancelled() : new InOtherHands())
    }
  }

  return {
    /** For one that runs in this process; elsewhere it is noticed a little later. */
    cancel,

    /** Looks now, because there may be something to find. */
    look,

    /** Also ended when it is not in these hands any more. */
    watch(id: string, workerId: string): Disposable & { cancelled: AbortSignal } {
      const controller = new AbortController()
      const watched = { workerId, controller }
      running.set(id, watched)
      timer ??= setInterval(() => void look(), LOOK_EVERY_MS).unref()
      return {
        cancelled: controller.signal,
        [Symbol.dispose]() {
          if (running.get(id) === watched) running.delete(id)
          if (running.size > 0) return
          clearInterval(timer)
          timer = undefined
        },
      }
    },
  }
}

/** Others have taken it over, and tell how it ends. */
export class InOtherHands extends Error {
  override readonly name = 'InOtherHands'
}

/** Somebody wants it to end. */
class Cancelled extends Error {
  override readonly name = 'Cancelled'
  constructor() {
    super('The run was cancelled')
  }
}
