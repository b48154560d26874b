import type { LogEvent } from '@trellis/contract'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error']

/** A line of a run's log, ready to be shown. */
export interface Line {
  id: string
  ts: number
  /** What the run said, or that something became of it. */
  kind: Level | 'state'
  text: string
  data?: unknown
}

/** How long lines may wait for others, so that many of them are drawn at once. */
const GATHER_MS = 100

/** Of terminals: they move a cursor that is not here. What is left of control characters goes with them. */
const ESCAPES = /[^\P{Cc}\t\n](?:\[[0-?]*[ -/]*[@-~])?/gu

const STATES: Record<string, string> = {
  'run.queued': 'queued',
  'run.started': 'started',
  'run.succeeded': 'succeeded',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
}

export const isLast = ({ type }: LogEvent): boolean =>
  ['run.succeeded', 'run.failed', 'run.cancelled'].includes(type)

interface Payload {
  level?: Level
  message?: string
  data?: unknown
  error?: string
  exitCode?: number
}

function lineOf({ id, ts, type, payload }: LogEvent): Line {
  const { level = 'info', message = '', data, error, exitCode } = (payload ?? {}) as Payload
  if (type === 'run.log')
    return { id, ts, kind: level, text: message.replace(ESCAPES, ''), ...(data !== undefined && { data }) }
  const detail = [error, exitCode !== undefined && `exit code ${exitCode}`].filter(Boolean).join(', ')
  return { id, ts, kind: 'state', text: [STATES[type] ?? type, detail].filter(Boolean).join(': ') }
}

/** The log of one run as it comes in. Lines are only ever added, so those who look compare how many there are. */
export function createRunLog() {
  const lines: Line[] = []
  const listeners = new Set<() => void>()
  let shown = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function tell(): void {
    timer = undefined
    shown = lines.length
    for (const listener of listeners) listener()
  }

  return {
    lines,
    add(event: LogEvent): void {
      lines.push(lineOf(event))
      // The last one is waited for.
      if (isLast(event)) {
        clearTimeout(timer)
        tell()
      } else timer ??= setTimeout(tell, GATHER_MS)
    },
    /** How many there are to be shown. */
    count: () => shown,
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export type RunLog = ReturnType<typeof createRunLog>

interface LineFilter {
  text: string
  /** The least grave that is shown. */
  least: Level
}

const gravity = (kind: Line['kind']): number => (kind === 'state' ? LEVELS.length : LEVELS.indexOf(kind))

/** The places of the lines that a filter lets through; undefined when it is all of them. */
export function chosenLines(lines: readonly Line[], { text, least }: LineFilter): number[] | undefined {
  const wanted = text.toLowerCase()
  const floor = LEVELS.indexOf(least)
  if (wanted === '' && floor === 0) return undefined
  const chosen: number[] = []
  for (const [place, { kind, text, data }] of lines.entries()) {
    if (gravity(kind) < floor) continue
    if (wanted && !text.toLowerCase().includes(wanted) && !dataText(data).includes(wanted)) continue
    chosen.push(place)
  }
  return chosen
}

const dataText = (data: unknown): string => (data === undefined ? '' : JSON.stringify(data).toLowerCase())
