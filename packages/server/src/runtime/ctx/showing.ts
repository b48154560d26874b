// How values look in a line of a log: JSON where they are, and much like it where they are more than that.

import { describeThrown } from './errors.ts'

const DEEPEST = 8
const MOST_ENTRIES = 100
/** Far more than a line may have. What comes after is not looked at. */
const MOST_CHARACTERS = 64 * 1024

/** Several values, as `console.log` takes them. */
export function shownTogether(parts: readonly unknown[]): string {
  const [first, ...rest] = parts
  if (typeof first !== 'string' || rest.length === 0 || !first.includes('%'))
    return parts.map(shown).join(' ')
  let used = 0
  const text = first.replace(/%[sdifjoOc%]/g, (mark) => {
    if (mark === '%%') return '%'
    return used < rest.length ? placed(mark, rest[used++]) : mark
  })
  return [text, ...rest.slice(used).map(shown)].join(' ')
}

function placed(mark: string, value: unknown): string {
  switch (mark) {
    case '%c':
      return ''
    case '%d':
    case '%f':
    case '%i': {
      const number = typeof value === 'object' || typeof value === 'symbol' ? Number.NaN : Number(value)
      return String(mark === '%i' ? Math.trunc(number) : number)
    }
    default:
      return shown(value)
  }
}

/** One value. A module may have made it such that to look at it throws. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return createShow()(value, [])
  } catch (error) {
    return shownError(error).error
  }
}

function createShow() {
  let left = MOST_CHARACTERS

  /** `around` are the objects it is in. */
  function show(value: unknown, around: readonly object[]): string {
    const text = typeof value === 'object' && value !== null ? showObject(value, around) : showPlain(value)
    left -= text.length
    return text
  }

  function showObject(value: object, around: readonly object[]): string {
    if (around.includes(value)) return '[Circular]'
    if (value instanceof Error) return showError(value)
    if (value instanceof Date || value instanceof RegExp || value instanceof Promise) return showKnown(value)
    const within = [...around, value]
    const inside = (one: unknown) => show(one, within)
    const isDeep = within.length > DEEPEST
    const list = (entries: Iterable<unknown>, size: number, each: (entry: never) => string) =>
      isDeep ? '…' : firstOf(entries, size, each)
    const pair = (by: string) => (entry: readonly [unknown, unknown]) =>
      `${inside(entry[0])}${by}${inside(entry[1])}`
    if (Array.isArray(value)) return `[${list(value, value.length, inside)}]`
    if (value instanceof Map) return `Map(${value.size}) {${list(value, value.size, pair(' => '))}}`
    if (value instanceof Set) return `Set(${value.size}) {${list(value, value.size, inside)}}`
    if (ArrayBuffer.isView(value) && 'length' in value) {
      const items = value as Uint8Array
      return `${value.constructor.name}(${items.length}) [${list(items, items.length, inside)}]`
    }
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return show(toJSON.call(value), within)
    const keys = Object.keys(value)
    const entries = keys.values().map((key) => [key, (value as Record<string, unknown>)[key]] as const)
    return `{${list(entries, keys.length, pair(':'))}}`
  }

  function firstOf(entries: Iterable<unknown>, size: number, each: (entry: never) => string): string {
    const told: string[] = []
    for (const entry of entries) {
      if (told.length === MOST_ENTRIES || left <= 0) {
        told.push(`… ${size - told.length} more`)
        break
      }
      told.push(each(entry as never))
    }
    return told.join(',')
  }

  return (value: unknown, around: readonly object[]) => show(value, around)
}

function showPlain(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MOST_CHARACTERS))
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return `[Function ${value.name || 'without a name'}]`
  return String(value)
}

/** No shorter than what else is shown, so that a line is not cut but where it is too long. */
export const shownError = (thrown: unknown) =>
  describeThrown(thrown, { message: MOST_CHARACTERS, stack: MOST_CHARACTERS })

function showError(value: Error): string {
  const { error, stack } = shownError(value)
  return stack?.includes(error) ? stack : error
}

const showKnown = (value: Date | RegExp | Promise<unknown>): string => {
  if (value instanceof Promise) return 'Promise {…}'
  if (value instanceof RegExp) return String(value)
  return Number.isNaN(value.getTime()) ? 'Invalid Date' : JSON.stringify(value)
}
