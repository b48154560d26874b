// A small shell that forks for this process. What Node starts takes it milliseconds, in which it does nothing else,
// because the kernel copies the page tables of all its memory; a shell has hardly any. Its children are not ours: what
// goes in and out of them passes named pipes, whose names are gone once both sides have opened them, and how each ended
// is told through one of those.

import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { closeSync, constants, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { constants as system } from 'node:os'
import { join } from 'node:path'

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants

/** Pipes are made for so many at a time, since that takes a program. */
const MADE_AT_ONCE = 8
const KINDS = ['in', 'out', 'err', 'end'] as const
type Kind = (typeof KINDS)[number]
/** When the shell has ended, another would too, for some time. */
const RECOVERY_MS = 10_000

// Whoever opens a pipe waits for the other side, unless it is open already. We have opened it by then; but if we are
// killed before the shell comes to it there is no other side. So it opens each for both first.
//
// Beside each program there is one who waits for it, not in its session, so not ended with it. To ask for the list of
// jobs is how a shell learns of those that have gone, and forgets them.
const SHELL = `
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
while read -r what names; do
  case $what in
    make)
      (
        at=$1
        shift 2
        for name in $names; do
          for kind in ${KINDS.join(' ')}; do set -- "$@" "$at/$name.$kind"; done
        done
        exec mkfifo -m 600 "$@"
      ) || exit 1
      echo made
      ;;
    start)
      {
        at=$1/$names
        exec > /dev/null 3<> "$at.in" 4< "$at.in" 3<> "$at.out" 5> "$at.out"
        exec 3<> "$at.err" 6> "$at.err" 3<> "$at.end" 7> "$at.end" 3>&-
        setsid /bin/sh -c "$2" launcher <&4 4<&- >&5 5>&- 2>&6 6>&- &
        exec 4<&- 5>&- 6>&-
        wait $!
        echo "end $?" >&7
      } &
      ;;
  esac
  jobs > /dev/null
done`

/** How a script begins that is to be forked: in a session of its own by then. */
const SAY_READY = 'echo "ready $$" >&7; exec 7>&-\n'

/** A process of the shell's, to be used like one of ours: it closes when it is gone and nobody has its pipes any more. */
export class Fork extends EventEmitter {
  readonly pid: number
  readonly stdin: Socket
  readonly stdout: Socket
  readonly stderr: Socket
  exitCode: number | null = null
  signalCode: NodeJS.Signals | null = null
  readonly #end: Socket

  constructor(pid: number, { in: stdin, out, err, end }: Record<Kind, Socket>) {
    super()
    this.pid = pid
    this.stdin = stdin
    this.stdout = out
    this.stderr = err
    this.#end = end
    let open = 3
    for (const pipe of [out, err, end])
      pipe.once('close', () => {
        if (--open === 0) this.emit('close', this.exitCode, this.signalCode)
      })
    for (const pipe of [stdin, out, err]) pipe.on('error', () => {})
  }

  /** `code` is as a shell tells it. */
  ended(code: number): void {
    const signal = code > USAGE ? signalNames.get(code - 128) : undefined
    if (signal) this.signalCode = signal
    else this.exitCode = code
    this.stdin.destroy()
    // What nobody reads is not waited for.
    this.stdout.resume()
    this.stderr.resume()
  }

  /** One that only waits keeps neither this process from ending nor a test. */
  keepAwake(awake: boolean): void {
    for (const pipe of [this.stdin, this.stdout, this.stderr, this.#end]) pipe[awake ? 'ref' : 'unref']()
  }
}

/** Git's own code, when it is not called as it should be. What is above says which signal. */
const USAGE = 129
const KILLED = 128 + system.signals.SIGKILL
const signalNames = new Map(
  Object.entries(system.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
)

interface Forks {
  /** Another process that runs the script, or undefined when there can be none. */
  start(): Promise<Fork | undefined>
  /** No more from now on. Those that run go on. */
  close(): void
}

/** `directory` is for this process alone; it is made when it is needed. */
export function createForks(directory: string, script: string): Forks {
  let shell: ChildProcess | undefined
  let isClosed = false
  let absentUntil = 0
  let names = 0
  let made: string[] = []
  let making: Promise<void> | undefined
  let areMade = () => {}
  const starting = new Set<Socket>()

  function startShell(): void {
    absentUntil = performance.now() + RECOVERY_MS
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const child = spawn('/bin/sh', ['-c', SHELL, 'forks', directory, SAY_READY + script], {
      cwd: '/',
      env: { LC_ALL: 'C' },
      stdio: ['pipe', 'pipe', 'ignore'],
      // Whoever interrupts this process in a terminal does not mean the shell.
      detached: true,
    })
    child.on('error', () => {})
    child.stdin.on('error', () => {})
    if (child.pid === undefined) return
    child.unref()
    for (const pipe of [child.stdin, child.stdout]) (pipe as Socket).unref()
    child.stdout.on('data', () => areMade())
    child.once('exit', () => {
      shell = undefined
      made = []
      areMade()
      for (const end of starting) end.destroy()
    })
    shell = child
  }

  async function make(): Promise<void> {
    const next = Array.from({ length: MADE_AT_ONCE }, () => String(++names))
    shell?.stdin?.write(`make ${next.join(' ')}\n`)
    await new Promise<void>((resolve) => {
      areMade = resolve
    })
    making = undefined
    if (shell) made = next
  }

  async function start(): Promise<Fork | undefined> {
    if (!shell && !isClosed && performance.now() >= absentUntil) startShell()
    while (shell && made.length === 0) {
      making ??= make()
      await making
    }
    const name = made.shift()
    if (!shell || name === undefined) return undefined
    const path = join(directory, name)
    try {
      const pipes = openPipes(path)
      const end = new Socket({ fd: pipes.end, writable: false })
      starting.add(end)
      shell.stdin?.write(`start ${name}\n`)
      // Whoever waited for it has gone too, and is to be forgotten.
      end.once('close', () => shell?.stdin?.write('\n'))
      return await whenReady(path, pipes, end).finally(() => starting.delete(end))
    } finally {
      removeNames(path)
    }
  }

  return {
    // Without memory, room, processes or descriptors there is none.
    start: () => start().catch(() => undefined),
    close() {
      isClosed = true
      shell?.stdin?.end()
    },
  }
}

/** Stdin for both, so that the shell finds it open; the others to read from. */
function openPipes(path: string): Record<Kind, number> {
  const opened: number[] = []
  const open = (kind: Kind, how: number): number => {
    const descriptor = openSync(`${path}.${kind}`, how | O_NONBLOCK)
    opened.push(descriptor)
    return descriptor
  }
  const read = (kind: Kind) => open(kind, O_RDONLY)
  try {
    return { in: open('in', O_RDWR), out: read('out'), err: read('err'), end: read('end') }
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor)
    throw error
  }
}

/** The whole directory may have gone before. */
function removeNames(path: string): void {
  for (const kind of KINDS)
    try {
      unlinkSync(`${path}.${kind}`)
    } catch {}
}

/** The process, when it has said that it runs. */
function whenReady(path: string, pipes: Record<Kind, number>, end: Socket): Promise<Fork> {
  let fork: Fork | undefined
  let said = ''
  return new Promise((resolve, reject) => {
    end.on('error', () => {})
    end.on('data', (chunk) => {
      said += chunk
      const pid = Number(/^ready (\d+)\n/.exec(said)?.[1])
      if (fork || !pid) return
      try {
        // The shell has it open, so for writing alone it can be opened only now.
        const stdin = openSync(`${path}.in`, O_WRONLY | O_NONBLOCK)
        fork = new Fork(pid, {
          in: new Socket({ fd: stdin, readable: false }),
          out: new Socket({ fd: pipes.out, writable: false }),
          err: new Socket({ fd: pipes.err, writable: false }),
          end,
        })
        closeSync(pipes.in)
        resolve(fork)
      } catch {
        end.destroy()
      }
    })
    end.once('close', () => {
      // Whoever waited for it may have been killed, and tells nothing.
      if (fork) fork.ended(Number(/^end (\d+)\n/m.exec(said)?.[1] ?? KILLED))
      else {
        for (const kind of ['in', 'out', 'err'] as const) closeSync(pipes[kind])
        reject(new Error('It was not started'))
      }
    })
  })
}
