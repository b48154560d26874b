// Looks at a run now and then, and says when it has taken more than it may. One that lasts stands back.

import { statfs } from 'node:fs/promises'
import type { Group } from './cgroups.ts'
import { memoryOf, processesBelow } from './processes.ts'

interface Watched {
  /** Of bubblewrap. */
  pid: number
  group: Group
  countsMemory: boolean
  countsProcesses: boolean
  memoryMb: number
  diskMb: number
  processes: number
  /** Called once. */
  onOver(error: string): void
}

const LOOK_MS = 100
/** What takes longer than this can take a little longer: those who have just begun may be done soon. */
const LONG_MS = 10_000

export const tooMuch = {
  memory: (megabytes: number) => `It used more than ${megabytes} MB of memory`,
  disk: (megabytes: number) => `It wrote more than ${megabytes} MB to the tree and /tmp`,
  processes: (most: number) => `It started more than ${most} processes and threads`,
}

export function watch(watched: Watched) {
  const { pid, group, memoryMb, diskMb, processes, countsMemory, countsProcesses } = watched
  const memoryBytes = memoryMb * 2 ** 20
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  let givesWayAt = performance.now() + LONG_MS
  /** The run lasts as long as this process. */
  let first: number | undefined

  async function find(): Promise<string | undefined> {
    const counted = await group.count()
    if (counted.wasOutOfMemory || (counted.memoryBytes ?? 0) > memoryBytes) return tooMuch.memory(memoryMb)
    if (counted.wasOutOfProcesses) return tooMuch.processes(processes)
    if (first === undefined || !countsMemory || !countsProcesses) {
      const inside = await processesBelow(pid)
      first ??= inside.processes[0]
      if (!countsProcesses && inside.threads > processes) return tooMuch.processes(processes)
      if (!countsMemory && (await memoryOf(inside.processes, memoryBytes)) > memoryBytes)
        return tooMuch.memory(memoryMb)
    }
    const disk = first && (await statfs(`/proc/${first}/root/tmp`).catch(() => undefined))
    return disk && (disk.bfree === 0 || disk.ffree === 0) ? tooMuch.disk(diskMb) : undefined
  }

  async function look(): Promise<void> {
    if (performance.now() > givesWayAt) {
      givesWayAt = Number.POSITIVE_INFINITY
      await group.giveWay()
    }
    const error = await find().catch(() => undefined)
    if (isOver) return
    if (error === undefined) timer = setTimeout(look, LOOK_MS)
    else {
      isOver = true
      watched.onOver(error)
    }
  }

  timer = setTimeout(look, LOOK_MS)
  return {
    stop(): void {
      isOver = true
      clearTimeout(timer)
    },
  }
}
