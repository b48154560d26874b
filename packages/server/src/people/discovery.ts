import type { Stopwatch } from '../platform/clock.ts'

/** What is made of settings and of what providers say about themselves when it is made. */
interface MadeOfProviders {
  $context: Promise<{ socialProviders: readonly { id: string }[] }>
}

/** Whoever comes earlier finds it as it is. */
const AGAIN_AFTER_MS = 5_000

/**
 * better-auth asks an OpenID provider once where its endpoints are, and does without it when it is away. So it is made
 * anew when somebody wants to sign in with a provider that is missing.
 */
export function createDiscovering<T extends MadeOfProviders>(
  make: () => T,
  { wanted, stopwatch }: { wanted: readonly string[]; stopwatch: Stopwatch },
) {
  let made = make()
  let madeAt = stopwatch()
  return {
    now: () => made,
    async whole(): Promise<T> {
      const { socialProviders } = await made.$context
      const isWhole = wanted.every((id) => socialProviders.some((provider) => provider.id === id))
      if (!isWhole && stopwatch() - madeAt > AGAIN_AFTER_MS) {
        made = make()
        madeAt = stopwatch()
      }
      return made
    },
  }
}
