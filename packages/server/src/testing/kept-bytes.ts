// For tests: how much memory is kept by what has been made since.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What it gives tells how many bytes of the heap have come to stay, after everything has gone that may. */
export function startKeeping(): () => number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const used = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  return () => used() - before
}
