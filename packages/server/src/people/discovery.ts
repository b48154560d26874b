import { setTimeout } from 'node:timers/promises'
import type { Stopwatch } from '../platform/clock.ts'

/** What is made of settings and of what providers say about themselves when it is made. */
interface MadeOfProviders {
  $context: Promise<{ socialProviders: readonly { id: string }[] }>
}

/** Whoever comes earlier finds it as it is. */
const AGAIN_AFTER_MS = 5_000
/** How long somebody who wants to sign in waits for a provider that does not answer. */
const PATIENCE_MS = 10_000

/**
 * better-auth asks an OpenID provider once where its endpoints are, answers nobody before it knows, and does without it
 * when it is away. So there is one without such providers from the start, until one with all of them is ready; that is
 * begun at the start, and anew when somebody wants to sign in with a provider that is missing.
 */
export function createDiscovering<T extends MadeOfProviders>(
  make: (asked: { isAsked: boolean }) => T,
  { wanted, stopwatch }: { wanted: readonly string[]; stopwatch: Stopwatch },
) {
  let made = make({ isAsked: false })
  let isWhole = wanted.length === 0
  let begunAt = Number.NEGATIVE_INFINITY
  let underWay: Promise<void> | undefined

  async function discover(): Promise<void> {
    begunAt = stopwatch()
    const next = make({ isAsked: true })
    const giveUp = new AbortController()
    const found = next.$context.then(({ socialProviders }) => {
      if (!wanted.every((id) => socialProviders.some((provider) => provider.id === id))) return
      made = next
      isWhole = true
    })
    const patience = setTimeout(PATIENCE_MS, undefined, { ref: false, signal: giveUp.signal })
    // Whatever else is wrong is found by whoever asks the one that is there.
    await Promise.race([found, patience]).catch(() => {})
    giveUp.abort()
    patience.catch(() => {})
    found.catch(() => {})
  }

  const begin = () => {
    underWay = discover().finally(() => {
      underWay = undefined
    })
  }
  if (!isWhole) begin()
  return {
    now: () => made,
    async whole(): Promise<T> {
      if (isWhole) return made
      if (!underWay && stopwatch() - begunAt > AGAIN_AFTER_MS) begin()
      await underWay
      return made
    },
  }
}
