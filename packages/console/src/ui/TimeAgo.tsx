import { useSyncExternalStore } from 'react'

const UNITS: [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** How long ago, or how long until; exactly when, under the pointer. */
export function TimeAgo({ at }: { at: number | string }) {
  const now = useSyncExternalStore(everyHalfMinute, currentHalfMinute)
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={exact.format(time)}>
      {ago(time.getTime() - now)}
    </time>
  )
}

/** How long until what comes soon, by the second. */
export function TimeUntil({ at }: { at: number }) {
  const now = useSyncExternalStore(everySecond, currentSecond)
  const seconds = Math.ceil((at - now) / 1_000)
  return (
    <time dateTime={new Date(at).toISOString()} title={exact.format(at)}>
      {seconds <= 0 ? 'now' : seconds < 60 ? `in ${seconds} s` : ago(at - now)}
    </time>
  )
}

function ago(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? []
  return unit && size ? relative.format(Math.round(ms / size), unit) : 'just now'
}

/** One clock for all of them. */
const HALF_MINUTE_MS = 30_000
const currentHalfMinute = () => Math.ceil(Date.now() / HALF_MINUTE_MS) * HALF_MINUTE_MS
function everyHalfMinute(onChange: () => void): () => void {
  const timer = setInterval(onChange, HALF_MINUTE_MS)
  return () => clearInterval(timer)
}

const currentSecond = () => Math.floor(Date.now() / 1_000) * 1_000
function everySecond(onChange: () => void): () => void {
  const timer = setInterval(onChange, 1_000)
  return () => clearInterval(timer)
}

/** How long something took. */
export function Duration({ ms }: { ms: number }) {
  if (ms < 1_000) return <>{Math.round(ms)} ms</>
  if (ms < 60_000) return <>{(ms / 1_000).toFixed(1)} s</>
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return <>{`${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`}</>
  return <>{`${Math.floor(minutes / 60)} h ${minutes % 60} min`}</>
}
