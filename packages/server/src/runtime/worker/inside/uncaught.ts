type Listen = (
  type: 'unhandledrejection' | 'error',
  listener: (event: { reason?: unknown; error?: unknown }) => void,
) => void
type SetTimer = (fn: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => unknown

declare const addEventListener: Listen

/** Tells of everything in this isolate that was thrown where nobody catches it. */
export function hearUncaught(tell: (thrown: unknown) => void): void {
  addEventListener('unhandledrejection', ({ reason }) => tell(reason))
  addEventListener('error', ({ error }) => tell(error))
  // Of what a timer throws workerd tells nobody.
  Object.assign(globalThis, {
    setTimeout: heard(setTimeout, tell),
    setInterval: heard(setInterval, tell),
  })
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
