// Whoever commits to a branch without saying where it must be wants the commit on top of whatever is there. Many who do
// so at once follow each other: built at the same time, all but one would have been built in vain.

import type { RefName } from '../git/names.ts'
import { Fault } from '../platform/fault.ts'
import { createPlaces } from '../platform/places.ts'
import type { RepoRow } from '../repos/service.ts'

/** For one branch. */
const MAX_WAITING = 1_000
/** Pushes, and those in other processes, wait for no turn here. */
const MAX_TRIES = 20

/** The branch has moved between looking at it and moving it. */
export class Overtaken extends Fault<'STALE_REF'> {
  constructor(where: { name: string; ref: RefName }) {
    super('STALE_REF', where)
  }
}

export type BranchTurns = ReturnType<typeof createBranchTurns>

export function createBranchTurns() {
  const places = createPlaces({ size: Number.POSITIVE_INFINITY, perOwner: 1, maxWaiting: MAX_WAITING })

  return {
    /** Runs `attempt` when it is its turn, and again when it is overtaken. Throws Overtaken when it always is. */
    async take<T>({ id }: RepoRow, ref: RefName, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
      using _turn = await places.acquire({ id: `${id} ${ref}` }, signal)
      for (let tries = 1; ; tries++)
        try {
          return await attempt()
        } catch (error) {
          if (!(error instanceof Overtaken) || tries === MAX_TRIES) throw error
          signal.throwIfAborted()
        }
    },
  }
}
