import { NoPlace } from '../platform/places.ts'
import type { Db } from '../schema.ts'
import * as store from './store.ts'

/** What ends in another process is found by looking. */
const LOOK_EVERY_MS = 1_000
const LOOKED_AT_ONCE = 200
/** Each is a request that stays open. */
const MOST = 2_000
const MOST_PER_ORG = 200
const RETRY_MS = 5_000

export type Waiting = ReturnType<typeof createWaiting>

/** Those who wait for runs to end. Told at once of what ends here; nobody looks for each of them. */
export function createWaiting({ db }: { db: Db }) {
  const waiting = new Map<string, Set<() => void>>()
  const perOrg = new Map<string, number>()
  let total = 0
  let timer: NodeJS.Timeout | undefined
  let looking = false

  function ended(runId: string): void {
    for (const tell of waiting.get(runId) ?? []) tell()
  }

  async function look(): Promise<void> {
    if (looking) return
    looking = true
    try {
      const ids = [...waiting.keys()]
      for (let i = 0; i < ids.length; i += LOOKED_AT_ONCE)
        for (const id of await store.listOver(db, ids.slice(i, i + LOOKED_AT_ONCE))) ended(id)
    } catch {
      // The next look may do better; whoever waits has a time of their own.
    } finally {
      looking = false
    }
  }

  function join(runId: string, tell: () => void): void {
    const others = waiting.get(runId) ?? new Set()
    others.add(tell)
    waiting.set(runId, others)
    timer ??= setInterval(() => void look(), LOOK_EVERY_MS).unref()
  }

  function leave(runId: string, tell: () => void): void {
    const others = waiting.get(runId)
    others?.delete(tell)
    if (others?.size === 0) waiting.delete(runId)
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    ended,

    /**
     * Resolves when the run has ended, when the time is over or when nobody wants to know any more. `isOver` is asked
     * after joining: what ends in between is not missed.
     */
    async until(
      { runId, orgId, ms, isOver }: { runId: string; orgId: string; ms: number; isOver(): Promise<boolean> },
      signal: AbortSignal,
    ): Promise<void> {
      const own = perOrg.get(orgId) ?? 0
      if (total >= MOST || own >= MOST_PER_ORG) throw new NoPlace(RETRY_MS)
      perOrg.set(orgId, own + 1)
      total++
      const done = Promise.withResolvers<void>()
      const tell = () => done.resolve()
      const patience = setTimeout(tell, ms).unref()
      signal.addEventListener('abort', tell)
      join(runId, tell)
      try {
        if (!(await isOver())) await done.promise
      } finally {
        clearTimeout(patience)
        signal.removeEventListener('abort', tell)
        leave(runId, tell)
        total--
        const left = (perOrg.get(orgId) ?? 1) - 1
        if (left === 0) perOrg.delete(orgId)
        else perOrg.set(orgId, left)
      }
    },

    close(): void {
      clearInterval(timer)
      for (const others of waiting.values()) for (const tell of others) tell()
    },
  }
}
