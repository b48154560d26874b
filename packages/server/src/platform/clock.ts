/** Unix milliseconds, now. A dependency, so that tests can turn it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/**
 * Milliseconds since some moment, for how long something takes: a clock that is set goes back and forth, this does not.
 * It stands still while the machine sleeps, and means nothing to another process.
 */
export type Stopwatch = () => number

export const systemStopwatch: Stopwatch = () => performance.now()

const DAY_MS = 86_400_000
const DATES_KEPT = 10_000
/** By day, up to the T. */
const dates = new Map<number, string>()
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
const threeDigits = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'))

function dateOf(day: number, ms: number): string {
  const known = dates.get(day)
  if (known !== undefined) return known
  const iso = new Date(ms).toISOString()
  const date = iso.slice(0, iso.indexOf('T') + 1)
  if (dates.size >= DATES_KEPT) dates.clear()
  dates.set(day, date)
  return date
}

/**
 * ISO 8601 in UTC with milliseconds: the form of every timestamp that is a string. A page has dozens of them, and few days:
 * the third of the time that Date takes.
 */
export function isoTime(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  const date = dateOf(day, ms)
  const rest = Math.floor(ms - day * DAY_MS)
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  return `${date}${twoDigits[hours]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}.${threeDigits[rest % 1000]}Z`
}

export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
