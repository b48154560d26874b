// Git is started by a small shell (`forks.ts`), and a few shells are started ahead: one that is told what to run becomes
// it, so that not even their start is waited for.

import { existsSync } from 'node:fs'
import { createForks, type Fork } from './forks.ts'

interface Launch {
  program: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** The path of a file that is stdin. */
  from?: string | undefined
  /** The descriptor of a file that takes stdout, from its start. */
  into?: number | undefined
  /** Arguments of `ulimit`, for the program and all it starts. */
  limits?: readonly string[]
}

export interface Launchers {
  /** A process that becomes this program, or undefined when none is to be had or it cannot be told these arguments. */
  take(launch: Launch): Promise<Fork | undefined>
  /** Ends those that wait. */
  close(): void
}

const READY = 4
/** Whoever has just taken one is in a hurry. */
const REFILL_MS = 25
/** Whoever waits for one for longer has it started otherwise. */
const PATIENCE_MS = 2000

// Nothing of what it is told is evaluated, and limits are numbers of our own. It reads no further than the last line, so
// what follows is the program's. One that is told nothing, or only half, must not look as if the program had done its work.
const SCRIPT = `
from=
while IFS= read -r line; do
  case $line in
    =*) export "\${line#=}" ;;
    +*) set -- "$@" "\${line#+}" ;;
    '>'*) exec > "\${line#>}" ;;
    '<'*) from=\${line#<} ;;
    '!'*) ulimit \${line#!} 2> /dev/null ;;
    *)
      [ "$from" ] && exec "$@" < "$from"
      exec "$@"
      ;;
  esac
done
exit 127`

/** A file that has no name can still be opened by this one, where there is such a thing. */
const canOpenDescriptors = existsSync(`/proc/${process.pid}/fd`)

/**
 * `directory` is for this process alone. `ready` is how many wait to be told, from the first time one is wanted: many a
 * server runs no git for hours.
 */
export function createLaunchers({
  directory,
  ready = READY,
}: {
  directory: string
  ready?: number
}): Launchers {
  const forks = createForks(directory, SCRIPT)
  const waiting = new Set<Fork>()
  /** Those who want one and have none yet, the first first. */
  const wanted: ((fork: Fork | undefined) => void)[] = []
  let starting = 0
  let refill: NodeJS.Timeout | undefined
  let isClosed = false

  /** As many as are wanted, and so many more. */
  function start(more: number): void {
    while (!isClosed && waiting.size + starting < wanted.length + more) {
      starting++
      void forks.start().then((fork) => {
        starting--
        const give = wanted.shift()
        if (give) give(fork)
        else if (fork) wait(fork)
      })
    }
  }

  function refillSoon(): void {
    if (isClosed) return
    refill ??= setTimeout(() => {
      refill = undefined
      start(ready)
    }, REFILL_MS).unref()
  }

  function wait(fork: Fork): void {
    if (isClosed) fork.stdin.end()
    fork.keepAwake(false)
    fork.once('close', () => waiting.delete(fork))
    waiting.add(fork)
  }

  function next(): Promise<Fork | undefined> {
    const [fork] = waiting
    if (fork && waiting.delete(fork)) return Promise.resolve(fork)
    return new Promise((resolve) => {
      const impatient = setTimeout(() => give(undefined), PATIENCE_MS)
      const give = (fork: Fork | undefined) => {
        clearTimeout(impatient)
        const at = wanted.indexOf(give)
        if (at >= 0) wanted.splice(at, 1)
        resolve(fork)
      }
      wanted.push(give)
      start(0)
    })
  }

  return {
    async take({ program, args, env, from, into, limits = [] }) {
      if (isClosed || (into !== undefined && !canOpenDescriptors)) return undefined
      const lines = [
        ...(into === undefined ? [] : [`>/proc/${process.pid}/fd/${into}`]),
        ...(from === undefined ? [] : [`<${from}`]),
        ...limits.map((limit) => `!${limit}`),
        ...Object.entries(env).map(([name, value]) => `=${name}=${value}`),
        ...[program, ...args].map((word) => `+${word}`),
      ]
      if (lines.some((line) => UNTELLABLE.test(line))) return undefined
      const fork = await next()
      refillSoon()
      fork?.keepAwake(true)
      fork?.stdin.write(`${lines.join('\n')}\n\n`)
      return fork
    },
    close() {
      isClosed = true
      clearTimeout(refill)
      forks.close()
      for (const give of [...wanted]) give(undefined)
      for (const fork of waiting) fork.stdin.end()
      waiting.clear()
    },
  }
}

/** A shell drops the one and ends its line at the other. */
const UNTELLABLE = /[\0\n]/
