/** Unix milliseconds, now. A dependency, so that tests can turn it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/**
 * Milliseconds since some moment, for how long something takes: a clock that is set goes back and forth, this does not.
 * It stands still while the machine sleeps, and means nothing to another process.
 */
export type Stopwatch = () => number

export const systemStopwatch: Stopwatch = () => performance.now()

/** ISO 8601 in UTC with milliseconds: the form of every timestamp that is a string. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
