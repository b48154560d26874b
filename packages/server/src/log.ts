export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Writes out what is still held back. */
  flush(): void
}

export type LogFields = Record<string, unknown>

const severity: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 }

/** Our own secrets are known by their looks; others by what stands around them. */
const SECRETS =
  /\b(tr[kta]_|webhsec_|clm_|cvt_)[\w-]+|(\b(?:bearer|basic)\s+)[^\s"',]+|(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi

const SECRET_FIELDS = /pass|secret|token|cookie|authorization/i

/** Takes everything secret out of a text that is about to be seen. */
export const redact = (text: string): string =>
  text.replace(SECRETS, (_all, prefix = '', scheme = '', user = '') => `${prefix}${scheme}${user}[redacted]`)

/** One JSON object a line. Lines are gathered and written together at the end of the turn of the event loop. */
export function createLog(level: LogLevel, write: (lines: string) => void): Log {
  let held = ''

  const flush = () => {
    const lines = held
    held = ''
    if (lines) write(lines)
  }

  const at = (name: LogLevel) => {
    if (severity[name] < severity[level]) return () => {}
    return (message: string, fields: LogFields = {}) => {
      const line = JSON.stringify(
        { time: new Date().toISOString(), level: name, message, ...fields },
        readable,
      )
      if (!held) setImmediate(flush)
      held += `${redact(line)}\n`
    }
  }

  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), flush }
}

function readable(key: string, value: unknown): unknown {
  if (SECRET_FIELDS.test(key) && typeof value === 'string') return '[redacted]'
  if (value instanceof Error) {
    const { name, message, stack, cause } = value
    return { name, message, stack, ...(cause !== undefined && { cause }) }
  }
  return value
}
