/** Below this nobody sees a difference. */
const FINE_MS = 20

/**
 * Puts times on a line of 1,000. A workflow may work for a moment and sleep for a month: between two moments that matter
 * there is room for the logarithm of the time that passes, so that order and proportion are seen and nothing vanishes.
 */
export function createScale(moments: readonly number[]): (at: number) => number {
  const known = [...new Set(moments)].sort((a, b) => a - b)
  const places = new Map<number, number>()
  let sum = 0
  for (const [index, at] of known.entries()) {
    if (index > 0) sum += Math.log1p((at - (known[index - 1] ?? at)) / FINE_MS)
    places.set(at, sum)
  }
  return (at) => (sum === 0 ? 0 : (1_000 * (places.get(at) ?? 0)) / sum)
}
