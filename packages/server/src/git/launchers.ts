// Starting a process takes Node some milliseconds in which it does nothing else, because the kernel copies the page
// tables of all its memory. So a few shells are started ahead: one that is told what to run becomes it.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'

export type Launchers = {
  /** A process that becomes this program, or undefined when none is at hand or it cannot be told these arguments. */
  take(
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    /** The descriptor of a file that takes stdout, from its start. */
    into?: number,
  ): ChildProcessWithoutNullStreams | undefined
  /** Ends those that wait. */
  close(): void
}

const READY = 4
/** Whoever has just taken one is in a hurry. */
const REFILL_MS = 25
/** Where so many have ended while they waited, more would too. */
const MAX_DEATHS = 20

// Nothing of what it is told is evaluated. It reads no further than the last line, so what follows is the program's.
const SCRIPT = `
while IFS= read -r line; do
  case $line in
    =*) export "\${line#=}" ;;
    +*) set -- "$@" "\${line#+}" ;;
    '>'*) exec > "\${line#>}" ;;
    *) exec "$@" ;;
  esac
done`

/** A file that has no name can still be opened by this one, where there is such a thing. */
const canOpenDescriptors = existsSync(`/proc/${process.pid}/fd`)

export function createLaunchers({ ready = READY }: { ready?: number } = {}): Launchers {
  const waiting = new Set<ChildProcessWithoutNullStreams>()
  let refill: NodeJS.Timeout | undefined
  let deaths = 0
  let isClosed = false

  function fill(): void {
    refill = undefined
    if (isClosed || deaths >= MAX_DEATHS) return
    add()
    if (waiting.size < ready) refill = setTimeout(fill, REFILL_MS).unref()
  }

  function add(): void {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'launcher'], {
      cwd: '/',
      env: { LC_ALL: 'C' },
      stdio: 'pipe',
      // A group of its own, so that helpers of the program end together with it.
      detached: true,
    })
    const drop = () => {
      if (waiting.delete(child)) deaths++
    }
    child.on('error', drop).on('exit', drop)
    // Without a free descriptor, for one. It has no pipes then.
    if (child.pid === undefined) {
      deaths++
      return
    }
    child.stdin.on('error', drop)
    keepsAwake(child, false)
    waiting.add(child)
  }

  refill = setTimeout(fill, REFILL_MS).unref()

  return {
    take(program, args, env, into) {
      if (into !== undefined && !canOpenDescriptors) return undefined
      const lines = [
        ...(into === undefined ? [] : [`>/proc/${process.pid}/fd/${into}`]),
        ...Object.entries(env).map(([name, value]) => `=${name}=${value}`),
        ...[program, ...args].map((word) => `+${word}`),
      ]
      if (lines.some((line) => line.includes('\n'))) return undefined
      const [child] = waiting
      if (!child) return undefined
      waiting.delete(child)
      deaths = 0
      keepsAwake(child, true)
      child.stdin.write(`${lines.join('\n')}\n\n`)
      refill ??= setTimeout(fill, REFILL_MS).unref()
      return child
    },
    close() {
      isClosed = true
      clearTimeout(refill)
      for (const child of waiting) child.stdin.end()
    },
  }
}

/** One that only waits keeps neither this process from ending nor a test. */
function keepsAwake(child: ChildProcessWithoutNullStreams, awake: boolean): void {
  const how = awake ? 'ref' : 'unref'
  child[how]()
  for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as unknown as Socket)[how]()
}
