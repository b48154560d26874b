import { shapeOf } from '../../platform/json-shape.ts'
import type { LogLevel, LogLine } from '../runtime.ts'
import type { Blank } from './blanking.ts'
import { shown, shownError, shownTogether } from './showing.ts'

export interface LogBounds {
  lines: number
  /** Of all lines together, and of one, in characters. What is longer is cut. */
  characters: number
  lineCharacters: number
}

/** Of data. What is deeper is shown as text: whoever gets it may go through it, level by level. */
const DATA_SHAPE = { values: Number.POSITIVE_INFINITY, levels: 100 }

const LEVELS = {
  debug: 'debug',
  trace: 'debug',
  log: 'info',
  info: 'info',
  dir: 'info',
  table: 'info',
  warn: 'warn',
  error: 'error',
} as const satisfies Record<string, LogLevel>

export function lineOf(level: LogLevel, message: unknown, data?: unknown): LogLine {
  return { level, message: shown(message), ...(data !== undefined && { data }) }
}

/** Lines of one run within bounds. The last one that is let through says that there were more. */
export function boundedLog(
  { lines, characters, lineCharacters }: LogBounds,
  blank: Blank,
  sink: (line: LogLine) => void,
) {
  const last: LogLine = {
    level: 'warn',
    message: `The log ends here: a run may write ${lines} lines, and ${characters} characters in all`,
  }
  let leftLines = lines
  let leftCharacters = characters
  return (line: LogLine): void => {
    if (leftLines < 0) return
    const cut = withinCharacters(line, lineCharacters, blank)
    leftCharacters -= cut.message.length + (cut.data === undefined ? 0 : JSON.stringify(cut.data).length)
    const fits = --leftLines >= 0 && leftCharacters >= 0
    if (!fits) leftLines = -1
    sink(fits ? cut : last)
  }
}

/** With data that is JSON for sure. What was cut before is left as it is. */
export function withinCharacters({ level, message, data }: LogLine, most: number, blank: Blank): LogLine {
  const line: LogLine = { level, message: cutTo(String(message), most, blank) }
  if (data === undefined) return line
  if (typeof data === 'string') return { ...line, data: cutTo(data, most, blank) }
  const json = jsonOf(data)
  if (json === undefined) return line
  const isText = json.length > most || shapeOf(json, DATA_SHAPE).problem !== undefined
  return { ...line, data: isText ? cutTo(json, most, blank) : (JSON.parse(json) as unknown) }
}

/** `missing` is what was cut off before. With the words that say so it is no longer than it may be. */
export function cutTo(text: string, most: number, blank: Blank, missing = 0): string {
  if (text.length <= most && missing === 0) return text
  const words = `… (${text.length + missing} more)`
  const kept = Math.min(Math.max(0, most - words.length), text.length)
  return `${blank.cut(text, kept)}… (${text.length - kept + missing} more)`
}

/** `console`, whose lines go to whoever is speaking. */
export function consoleFor(say: (line: LogLine) => void): Console {
  const methods = Object.entries(LEVELS).map(([name, level]) => [
    name,
    (...parts: unknown[]) => say({ level, message: shownTogether(parts) }),
  ])
  const unsaid = ['assert', 'clear', 'count', 'countReset', 'dirxml', 'group', 'groupCollapsed', 'groupEnd']
  const quiet = [...unsaid, 'time', 'timeEnd', 'timeLog', 'timeStamp'].map((name) => [name, () => {}])
  return Object.fromEntries([...quiet, ...methods]) as Console
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    return JSON.stringify(shownError(error).error)
  }
}
