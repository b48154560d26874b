import type { Workerd } from './workerd.ts'

/** How long a process is watched, and for what part of that it may compute, before all others go first. */
const WATCHED_MS = 1_000
const SHARE = 0.15

/** What computes for long has the time that others leave: theirs is over soon, and nobody waits for it in vain. */
export function createGreed(workerd: Pick<Workerd, 'cpuMs' | 'setGreedy'>) {
  let isGreedy = false
  let since = 0
  let cpuMs: number | undefined

  function begin(): void {
    since = performance.now()
    cpuMs = workerd.cpuMs()
  }

  return {
    /** When somebody comes. */
    begin,

    look(isStuck: boolean): void {
      const passed = performance.now() - since
      if (isGreedy || (passed < WATCHED_MS && !isStuck)) return
      const worked = (workerd.cpuMs() ?? 0) - (cpuMs ?? 0)
      begin()
      if (!isStuck && worked <= passed * SHARE) return
      isGreedy = true
      workerd.setGreedy(true)
    },

    /** When nobody is there any more. False if it stays behind. */
    end(): boolean {
      const isAsBefore = !isGreedy || workerd.setGreedy(false)
      isGreedy = false
      return isAsBefore
    },
  }
}
