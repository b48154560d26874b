import { jsonProblem } from './json-problem.ts'
import type { Field } from './schema.ts'

/** What was typed, read as a value of a field: null is none. */
export type Read = { value: unknown; problem?: undefined } | { problem: string }

const two = (value: number, digits = 2) => String(value).padStart(digits, '0')

/** A time as a control for dates has it, in the zone of whoever looks. */
function localTime(ms: number): string {
  const at = new Date(ms)
  const day = `${two(at.getFullYear(), 4)}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const [seconds, rest] = [at.getSeconds(), at.getMilliseconds()]
  const fine = seconds || rest ? `:${two(seconds)}${rest ? `.${two(rest, 3)}` : ''}` : ''
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}${fine}`
}

/** A value as it stands in its control. */
export function typed({ type }: Pick<Field, 'type'>, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (type === 'json') return JSON.stringify(value, null, 2)
  if (type === 'timestamp' && typeof value === 'number') return localTime(value)
  return String(value)
}

/** Reads what stands in a control. Nothing is no value, but for a text that has to be there. */
export function read(field: Pick<Field, 'type' | 'required'>, text: string): Read {
  const { type, required } = field
  if (text === '') return required && (type === 'string' || type === 'text') ? { value: '' } : { value: null }
  switch (type) {
    case 'integer':
      return /^-?\d+$/.test(text.trim()) && Number.isSafeInteger(Number(text))
        ? { value: Number(text) }
        : { problem: 'Give a whole number' }
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text))
        ? { value: Number(text) }
        : { problem: 'Give a number' }
    case 'boolean':
      return { value: text === 'true' }
    case 'timestamp': {
      const ms = new Date(text).getTime()
      return Number.isNaN(ms) ? { problem: 'Give a date and a time' } : { value: ms }
    }
    case 'json': {
      const wrong = jsonProblem(text)
      return wrong
        ? { problem: `Line ${wrong.line}, column ${wrong.column}: ${wrong.message}` }
        : { value: JSON.parse(text) }
    }
    default:
      return { value: text }
  }
}

export const isSame = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a ?? null) === JSON.stringify(b ?? null)

const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
export const asMoment = (ms: number): string => moment.format(ms)

/** What JSON is, where there is no room for all of it. */
export function summary(value: unknown): string {
  if (Array.isArray(value)) return value.length === 1 ? 'list of 1' : `list of ${value.length}`
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value)
    const named = keys.slice(0, 3).join(', ')
    return keys.length === 0 ? 'empty object' : `{ ${named}${keys.length > 3 ? ', …' : ''} }`
  }
  return typeof value === 'string' ? `“${value}”` : String(value)
}

/** The end of an id, which is where those of neighbours differ. */
export const shortId = (id: string): string => `…${id.slice(-8)}`
