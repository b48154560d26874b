// For tests: whether something long lets others in.

/** Counts how often somebody else had a turn since. */
export function countTurns() {
  let count = 0
  let isOver = false
  const take = () => {
    if (isOver) return
    count++
    setImmediate(take)
  }
  setImmediate(take)
  return {
    get count() {
      return count
    },
    [Symbol.dispose]: () => {
      isOver = true
    },
  }
}
