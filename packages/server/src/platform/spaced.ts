import { setTimeout as sleep } from 'node:timers/promises'

/**
 * For work that keeps others waiting: one at a time, and after each a rest that is `rest` times as long, in which the
 * others come to theirs. So it has a bounded share of the time, however much of it there is.
 */
export function createSpaced(rest: number) {
  let last: Promise<unknown> = Promise.resolve()

  return <T>(work: () => Promise<T>): Promise<T> => {
    let begun = 0
    const mine = last.then(() => {
      begun = performance.now()
      return work()
    })
    const rested = () => sleep((performance.now() - begun) * rest, undefined, { ref: false })
    last = mine.then(rested, rested)
    return mine
  }
}
