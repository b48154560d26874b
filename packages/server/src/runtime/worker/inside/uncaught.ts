type Listen = (
  type: 'unhandledrejection' | 'error',
  listener: (event: { reason?: unknown; error?: unknown }) => void,
) => void
type SetTimer = (fn: unknown, ms?: number, ...args: unknown[]) => unknown

/** Tells of everything in this isolate that was thrown where nobody catches it. */
export function hearUncaught(tell: (thrown: unknown) => void): void {
  const { addEventListener } = globalThis as unknown as { addEventListener: Listen }
  addEventListener('unhandledrejection', ({ reason }) => tell(reason))
  addEventListener('error', ({ error }) => tell(error))
  // Of what a timer throws workerd tells nobody.
  const timers = globalThis as unknown as Record<'setTimeout' | 'setInterval', SetTimer>
  timers.setTimeout = heard(timers.setTimeout, tell)
  timers.setInterval = heard(timers.setInterval, tell)
}

const heard =
  (set: SetTimer, tell: (thrown: unknown) => void): SetTimer =>
  (fn, ms, ...args) => {
    if (typeof fn !== 'function') return set(fn, ms, ...args)
    const guarded = () => {
      try {
        fn(...args)
      } catch (error) {
        tell(error)
      }
    }
    return set(guarded, ms)
  }
