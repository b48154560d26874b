// Most git commands are done in a few milliseconds, and somebody waits for them. One that goes on for longer steps back
// behind those: whoever makes git compute for seconds does not make others wait for theirs.

import { writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'

const SHORT_MS = 20

/** Call it when a process has been started; disposing of it says that the process is gone. */
export function stepBackWhenLong(pid: number | undefined): Disposable {
  const timer = setTimeout(() => pid && stepBack(pid), SHORT_MS).unref()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

/** As far as the system lets us: nobody depends on it. */
function stepBack(pid: number): void {
  const { PRIORITY_BELOW_NORMAL } = constants.priority
  try {
    setPriority(pid, PRIORITY_BELOW_NORMAL)
  } catch {}
  // Where Linux schedules sessions before processes, the session of the process has to step back as well.
  writeFile(`/proc/${pid}/autogroup`, String(PRIORITY_BELOW_NORMAL)).catch(() => {})
}
