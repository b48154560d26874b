import type { Appending } from '../events/service.ts'
import type { Blank } from '../runtime/ctx/blanking.ts'
import { withinCharacters } from '../runtime/ctx/logging.ts'
import type { LogLine } from '../runtime/runtime.ts'
import type { Database, Tx } from '../schema.ts'
import * as store from './store.ts'
import type { LogPayload, Transitions } from './transitions.ts'

/** How long a line may wait for others to be written with it. */
const GATHER_MS = 50
/** Of one line, and of its data. */
const LINE_CHARACTERS = 16 * 1024
/** What every line takes beside what it says. */
const ROW_BYTES = 400

interface Waiting {
  workerId: string
  lines: LogPayload[]
}

export type RunLogs = ReturnType<typeof createRunLogs>
export type RunLog = ReturnType<RunLogs['open']>

/** Writes what runs say, all that came together in one transaction. What is not written when the process dies is lost. */
export function createRunLogs(deps: {
  database: Database
  events: Appending
  transitions: Pick<Transitions, 'logIn'>
  /** What the log of one run may take. */
  maxBytes: number
  complain(error: unknown): void
}) {
  const { database, events, transitions, maxBytes, complain } = deps
  const waiting = new Map<store.RunRow, Waiting>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const all = [...waiting]
    waiting.clear()
    if (all.length === 0) return
    await database
      .transact((tx) => writeIn(tx, all))
      .catch((error: unknown) => {
        // They are written with the next.
        for (const [run, { workerId, lines }] of all)
          waiting.set(run, { workerId, lines: [...lines, ...(waiting.get(run)?.lines ?? [])] })
        throw error
      })
  }

  async function writeIn(tx: Tx, all: readonly [store.RunRow, Waiting][]): Promise<void> {
    // In the same order everywhere: others may be cancelling several of them.
    for (const [run, { workerId, lines }] of all.toSorted(([a], [b]) => (a.id < b.id ? -1 : 1))) {
      // What was taken over by others is told by them.
      const held = await store.listHeld(tx, database.dialect, { ids: [run.id], workerId })
      if (held.has(run.id)) await transitions.logIn(tx, events, run, lines)
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write).catch(complain)
    return writing
  }

  return {
    open(run: store.RunRow, workerId: string, blank: Blank) {
      let bytes = run.log_bytes
      let isFull = bytes > maxBytes
      const keep = (payload: LogPayload) => {
        const own = waiting.get(run) ?? { workerId, lines: [] }
        own.lines.push(payload)
        waiting.set(run, own)
        timer ??= setTimeout(() => void flush(), GATHER_MS)
      }
      return {
        write(line: LogLine): void {
          if (isFull) return
          const payload = withinCharacters(blank(line), LINE_CHARACTERS, blank)
          bytes += ROW_BYTES + JSON.stringify(payload).length
          isFull = bytes > maxBytes
          keep(
            isFull
              ? { level: 'warn', message: `The log is full at ${maxBytes} bytes: what follows is not kept` }
              : payload,
          )
        },

        /** Why it failed, which is told however much was said before. */
        writeStack(stack: string): void {
          const payload = withinCharacters(
            blank<LogLine>({ level: 'error', message: stack }),
            LINE_CHARACTERS,
            blank,
          )
          bytes += ROW_BYTES + JSON.stringify(payload).length
          keep(payload)
        },

        /** What has not been written yet, for whoever writes the end of the run. */
        async take(): Promise<{ lines: LogPayload[]; logBytes: number }> {
          await writing
          const lines = waiting.get(run)?.lines ?? []
          waiting.delete(run)
          return { lines, logBytes: bytes }
        },
      }
    },
    flush,
  }
}
