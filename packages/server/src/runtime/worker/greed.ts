import type { Workerd } from './workerd.ts'

/** How long a process is watched, and for what part of that it may compute, before all others go first. */
const WATCHED_MS = 500
const SHARE = 0.2

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

    /** From then on it stays behind, until it is to end. */
    get isGreedy() {
      return isGreedy
    },
  }
}
