import type { Blank } from '../ctx/blanking.ts'
import { boundedLog, type LogBounds } from '../ctx/logging.ts'
import type { LogLine } from '../runtime.ts'

/** All lines of a run, wherever they come from, within its bounds. */
export function createRunLog(bounds: LogBounds, blank: Blank, sink: (line: LogLine) => void) {
  let told = 0
  let isFull = false
  const bounded = boundedLog(bounds, blank, (line) => {
    told++
    sink(line)
  })
  return {
    write(line: LogLine): void {
      const before = told
      bounded(line)
      isFull = told === before
    },
    /** Then nothing is told any more. */
    get isFull() {
      return isFull
    },
  }
}
