// The processes of a run, as the machine sees them. In its namespace all of them descend from one process.

import { readdir, readFile } from 'node:fs/promises'

/** Of bubblewrap: itself outside, its first process inside. The first program is the child of that. */
const OUTER = 2
/** More are not looked at: there is a limit on them. */
const MOST_LOOKED_AT = 20_000

interface Seen {
  processes: number[]
  /** With those of bubblewrap. */
  threads: number
}

const read = (file: string) => readFile(file, 'latin1').catch(() => '')

/** All that descends from a process, but for bubblewrap's own. */
export async function processesBelow(pid: number): Promise<Seen> {
  let generation = [pid]
  const found: number[] = []
  let threads = 0
  for (let depth = 0; generation.length > 0 && threads < MOST_LOOKED_AT; depth++) {
    if (depth >= OUTER) found.push(...generation)
    const next: number[] = []
    for (const parent of generation) {
      const tasks = await readdir(`/proc/${parent}/task`).catch(() => [])
      threads += tasks.length
      for (const task of tasks)
        for (const child of (await read(`/proc/${parent}/task/${task}/children`)).split(' '))
          if (child) next.push(Number(child))
    }
    generation = next
  }
  return { processes: found, threads }
}

/**
 * Memory of their own, in bytes. What processes share since one was made from the other is counted for each of them at
 * first, which is quick, and only if that is too much in parts, which is not.
 */
export async function memoryOf(processes: readonly number[], most: number): Promise<number> {
  let quick = 0
  for (const pid of processes)
    quick += kilobytes(await read(`/proc/${pid}/status`), /^Rss(?:Anon|Shmem):\s*(\d+)/gm)
  if (quick * 1024 <= most) return quick * 1024
  let exact = 0
  for (const pid of processes)
    exact += kilobytes(await read(`/proc/${pid}/smaps_rollup`), /^Pss_(?:Anon|Shmem):\s*(\d+)/gm)
  return exact * 1024
}

const kilobytes = (text: string, pattern: RegExp): number =>
  text.matchAll(pattern).reduce((sum, [, number]) => sum + Number(number), 0)

export function signalAll(processes: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of processes)
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended.
    }
}
