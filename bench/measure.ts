/** One line of the table: our work against a peer's, measured in one run. */
export interface Row {
  work: string
  peer: string
  ours: string
  theirs: string
  /** How many times better than the peer. */
  ratio: number
  /** None where the number is only to be known. */
  goal?: number
}

export const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The value that so large a part of them, from 0 to 1, does not exceed. */
export const quantile = (values: number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ??
  Number.NaN

/** Takes turns, so that what else the machine does falls on both, and gives the median of each. */
export async function inTurns(
  rounds: number,
  ours: () => Promise<number>,
  theirs: () => Promise<number>,
): Promise<{ ours: number; theirs: number }> {
  const results = { ours: [] as number[], theirs: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    results.theirs.push(await theirs())
    results.ours.push(await ours())
  }
  return { ours: median(results.ours), theirs: median(results.theirs) }
}

export const perSecond = (rate: number): string => `${Math.round(rate)}/s`

export const milliseconds = (time: number): string => `${time.toFixed(time < 10 ? 2 : 1)} ms`

export function timesRow(
  work: string,
  peer: string,
  times: { ours: number; theirs: number },
  goal: number,
): Row {
  return {
    work,
    peer,
    ours: milliseconds(times.ours),
    theirs: milliseconds(times.theirs),
    ratio: times.theirs / times.ours,
    goal,
  }
}
