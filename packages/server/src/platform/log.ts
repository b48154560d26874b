import { isoTime } from './clock.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Writes out what is still held back. */
  flush(): void
}

type LogFields = Record<string, unknown>

const severity: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 }

/** Our own secrets are known by their looks; others by what stands around them. */
const SECRETS =
  /\b(tr[ktalr]_|webhsec_|clm_|cvt_)[\w+/=-]+|(\b(?:bearer|basic)\s+)[^\s"',\\]+|(:\/\/[^\s/:@"]*:)[^\s/@"\\]+(?=@)/gi

const SECRET_FIELDS = /pass|secret|token|cookie|authorization/i

/** Takes everything secret out of a text that is about to be seen. */
export const redact = (text: string): string =>
  text.replace(SECRETS, (_all, prefix = '', scheme = '', user = '') => `${prefix}${scheme}${user}[redacted]`)

/** To write them takes as long as a small request does, and whoever has their answer may be asking again. */
const HELD_MS = 10

/** One JSON object a line. Lines are gathered and written together; what is wrong comes out with the turn of the event loop. */
export function createLog(level: LogLevel, write: (lines: string) => void): Log {
  let held = ''
  let timer: NodeJS.Timeout | undefined

  const flush = () => {
    const lines = held
    held = ''
    clearTimeout(timer)
    if (lines) write(lines)
  }

  const at = (name: LogLevel) => {
    if (severity[name] < severity[level]) return () => {}
    return (message: string, fields: LogFields = {}) => {
      let line = `{"time":"${isoTime(Date.now())}","level":"${name}","message":${JSON.stringify(message)}`
      for (const key in fields) line += `,"${key}":${readable(key, fields[key])}`
      if (severity[name] > severity.info) setImmediate(flush)
      else if (!held) timer = setTimeout(flush, HELD_MS)
      held += `${redact(line)}}\n`
    }
  }

  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), flush }
}

/** A line for every request passes here, so plain values take the short way. */
function readable(key: string, value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return JSON.stringify(withoutSecret(key, value))
  if (value && SECRET_FIELDS.test(key)) return '"[redacted]"'
  try {
    return JSON.stringify(value, unfold) ?? 'null'
  } catch {
    // Something that contains itself. A line that says less is better than no line.
    return JSON.stringify(String(value))
  }
}

function unfold(key: string, value: unknown): unknown {
  if (value instanceof Error) {
    const { name, message, stack, cause } = value
    return { name, message, stack, ...(cause !== undefined && { cause }) }
  }
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string') return withoutSecret(key, value)
  return typeof value === 'object' && value && SECRET_FIELDS.test(key) ? '[redacted]' : value
}

const withoutSecret = (key: string, value: string) => (SECRET_FIELDS.test(key) ? '[redacted]' : value)
