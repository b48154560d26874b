// Starting a process takes Node some milliseconds in which it does nothing else, because the kernel copies the page
// tables of all its memory. So a few shells are started ahead: one that is told what to run becomes it.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'

interface Launch {
  program: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** The descriptor of a file that takes stdout, from its start. */
  into?: number | undefined
  /** Arguments of `ulimit`, for the program and all it starts. */
  limits?: readonly string[]
}

export interface Launchers {
  /** A process that becomes this program, or undefined when none is at hand or it cannot be told these arguments. */
  take(launch: Launch): ChildProcessWithoutNullStreams | undefined
  /** Ends those that wait. */
  close(): void
}

const READY = 4
/** Whoever has just taken one is in a hurry. */
const REFILL_MS = 25
/** When so many have ended while they waited, or could not be started, more would too, for some time. */
const MAX_DEATHS = 5
const RECOVERY_MS = 10_000

// Nothing of what it is told is evaluated, and limits are numbers of our own. It reads no further than the last line, so what follows is the program's. One
// that is told nothing, or only half, must not look as if the program had done its work.
const SCRIPT = `
while IFS= read -r line; do
  case $line in
    =*) export "\${line#=}" ;;
    +*) set -- "$@" "\${line#+}" ;;
    '>'*) exec > "\${line#>}" ;;
    '!'*) ulimit \${line#!} 2> /dev/null ;;
    *) exec "$@" ;;
  esac
done
exit 127`

/** A file that has no name can still be opened by this one, where there is such a thing. */
const canOpenDescriptors = existsSync(`/proc/${process.pid}/fd`)

/** `ready` is how many wait to be told, from the first time one is wanted: many a server runs no git for hours. */
export function createLaunchers({ ready = READY }: { ready?: number } = {}): Launchers {
  const waiting = new Set<ChildProcessWithoutNullStreams>()
  let refill: NodeJS.Timeout | undefined
  let deaths = 0
  let isClosed = false

  function refillSoon(): void {
    if (!isClosed) refill ??= setTimeout(fill, deaths < MAX_DEATHS ? REFILL_MS : RECOVERY_MS).unref()
  }

  function fill(): void {
    refill = undefined
    if (deaths >= MAX_DEATHS) deaths = 0
    add()
    if (waiting.size < ready) refillSoon()
  }

  function add(): void {
    const child = startShell()
    if (!child) {
      deaths++
      return
    }
    const drop = () => {
      if (waiting.delete(child)) deaths++
    }
    child.on('exit', drop)
    child.stdin.on('error', drop)
    keepAwake(child, false)
    waiting.add(child)
  }

  return {
    take({ program, args, env, into, limits = [] }) {
      if (into !== undefined && !canOpenDescriptors) return undefined
      const lines = [
        ...(into === undefined ? [] : [`>/proc/${process.pid}/fd/${into}`]),
        ...limits.map((limit) => `!${limit}`),
        ...Object.entries(env).map(([name, value]) => `=${name}=${value}`),
        ...[program, ...args].map((word) => `+${word}`),
      ]
      if (lines.some((line) => UNTELLABLE.test(line))) return undefined
      const [child] = waiting
      refillSoon()
      if (!child) return undefined
      waiting.delete(child)
      deaths = 0
      keepAwake(child, true)
      child.stdin.write(`${lines.join('\n')}\n\n`)
      return child
    },
    close() {
      isClosed = true
      clearTimeout(refill)
      for (const child of waiting) child.stdin.end()
      waiting.clear()
    },
  }
}

/** A shell drops the one and ends its line at the other. */
const UNTELLABLE = /[\0\n]/

/** Undefined when there is no memory, process or descriptor left. Node tells some of it at once and some later. */
function startShell(): ChildProcessWithoutNullStreams | undefined {
  try {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'launcher'], {
      cwd: '/',
      env: { LC_ALL: 'C' },
      stdio: 'pipe',
      // A group of its own, so that helpers of the program end together with it.
      detached: true,
    })
    child.on('error', () => {})
    return child.pid === undefined ? undefined : child
  } catch {
    return undefined
  }
}

/** One that only waits keeps neither this process from ending nor a test. */
function keepAwake(child: ChildProcessWithoutNullStreams, awake: boolean): void {
  const how = awake ? 'ref' : 'unref'
  child[how]()
  for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as unknown as Socket)[how]()
}
