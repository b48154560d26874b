// The one way to run git: arguments that cannot be confused with options, an environment that holds only
// what is named here, and a process that never outlives the interest in it.

import { spawn } from 'node:child_process'
import { PassThrough, Readable, type Writable } from 'node:stream'
import { OutOfSpace } from '../../platform/outages.ts'
import type { PlaceOwner, Places, Slot } from '../../platform/places.ts'
import type { TreePath, Value } from '../names.ts'
import { allowances, GitOverLimit, type GitWork, shellLimits, wasOverLimit, workOf } from './allowances.ts'
import { environmentOf, type Quarantine, type WorkTree } from './environment.ts'
import { feed, type Input, type InputFile, isInputFile } from './feed.ts'
import type { Launchers } from './launchers.ts'
import { stepBackWhenLong } from './precedence.ts'

/** Text written in the source; a plain `string` is refused by the compiler. */
type Literal<S extends string> = string extends S ? never : S

/** What git shall do. */
interface Command<V extends string = never, O extends string = never> extends Circumstances {
  verb: Literal<V>
  options?: readonly (Literal<O> | false | undefined)[]
  values?: readonly Value[]
  /** Come last, after `--`, and are taken literally. */
  paths?: readonly TreePath[]
}

interface Circumstances {
  /** Settings for this one command. They travel in the environment, so a secret is not in the arguments. */
  config?: Readonly<Record<string, string>>
  /** 'open' leaves the writing end to the caller of `start`. */
  stdin?: Input | InputFile | 'open'
  /** The descriptor of a file that takes stdout, past this process. */
  into?: number
  quarantine?: Quarantine
  workTree?: WorkTree
  protocolVersion?: 0 | 1 | 2
  /** On whose behalf, for the pool: usually an organization. */
  owner?: PlaceOwner
  /** What it is for, and so what it may take. Default: what its verb is mostly for. */
  work?: GitWork
  signal?: AbortSignal
  /** Less than its work allows. */
  timeoutMs?: number
  /** How large a file it may write. */
  maxFileBytes?: number
  /** Exit codes that are answers and not failures. Default: only 0. */
  accept?: readonly number[]
  onStderr?: (chunk: Buffer) => void
}

/** How much of stdout `run` collects. */
interface Collecting {
  /** Default 16 MiB. */
  maxBytes?: number
  /** What to do with more output than that: fail with OutputTooLarge (default), or cut and say so. */
  truncate?: boolean
}

interface Output {
  stdout: Buffer
  exitCode: number
  truncated: boolean
}

/** A git that runs. */
export interface GitProcess extends AsyncDisposable {
  readonly stdout: Readable
  /** Present when the command's stdin is 'open'. */
  readonly stdin: Writable | undefined
  /** Settles when the process is gone: with its exit code, or with a GitError, OutOfSpace, a GitTimeout or the signal's reason. */
  readonly done: Promise<number>
  /** Kills the process and waits until it is gone. */
  stop(): Promise<void>
}

/** Runs commands in any repository. */
export interface Git {
  run<V extends string, O extends string>(
    gitDir: string,
    command: Command<V, O> & Collecting,
  ): Promise<Output>
  /** Resolves when the process runs. Whoever starts one reads stdout to its end or stops it. */
  start<V extends string, O extends string>(gitDir: string, command: Command<V, O>): Promise<GitProcess>
  /** Ends everything that runs, and resolves when it is gone. */
  stopAll(): Promise<void>
}

/** One repository, opened: on whose behalf and for how long its commands run is settled. */
export interface OpenRepo {
  readonly gitDir: string
  run<V extends string, O extends string>(command: Command<V, O> & Collecting): Promise<Output>
  start<V extends string, O extends string>(command: Command<V, O>): Promise<GitProcess>
  /** The same repository under other circumstances. */
  with(changed: Access): OpenRepo
}

/** What all commands of an opened repository share. */
export type Access = Pick<Circumstances, 'quarantine' | 'owner' | 'work' | 'signal' | 'timeoutMs'>

export function openRepo(git: Git, gitDir: string, access: Access = {}): OpenRepo {
  return {
    gitDir,
    run: (command) => git.run(gitDir, { ...access, ...command }),
    start: (command) => git.start(gitDir, { ...access, ...command }),
    with: (changed) => openRepo(git, gitDir, { ...access, ...changed }),
  }
}

interface GitSettings {
  binary?: string
  pool?: Places
  /** For work that nobody waits for at a terminal: imports and upkeep. */
  slowPool?: Places
  /** Where processes come from that have been started ahead. */
  launchers?: Launchers
  /** Hears of every process that is started. */
  onStart?(work: GitWork): void
}

/** Git said no: it exited with a code that is no answer, was killed, or could not be started. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly args: readonly string[]
  readonly exitCode: number | null
  readonly signal: string | null
  /** The end of what git said. It may quote repository content, so it is no part of the message. */
  readonly stderr: string
  constructor(
    fields: Pick<GitError, 'args' | 'exitCode' | 'signal' | 'stderr'>,
    verb: string,
    cause?: unknown,
  ) {
    const how = fields.signal ? `was killed by ${fields.signal}` : `exited with ${fields.exitCode}`
    super(`git ${verb} ${cause ? 'could not be started' : how}`, { cause })
    this.args = fields.args
    this.exitCode = fields.exitCode
    this.signal = fields.signal
    this.stderr = fields.stderr
  }
}

export class GitTimeout extends GitOverLimit {
  override readonly name = 'GitTimeout'
  constructor(verb: string, timeoutMs: number) {
    super(`git ${verb} took longer than ${timeoutMs} ms`)
  }
}

export class OutputTooLarge extends Error {
  override readonly name = 'OutputTooLarge'
  readonly limit: number
  constructor(verb: string, maxBytes: number) {
    super(`git ${verb} printed more than ${maxBytes} bytes`)
    this.limit = maxBytes
  }
}

/** How the system says it, through git, in the language that git is told to speak. */
const FULL_DISK = /: (No space left on device|Disk quota exceeded)$/m

const MAX_STDERR_BYTES = 16 * 1024
const NOBODY: PlaceOwner = { id: '' }

const GRACE_MS = 2000
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127

export function createGit(settings: GitSettings = {}): Git {
  const running = new Set<GitProcess>()
  let isOver = false

  async function start(gitDir: string, command: CheckedCommand): Promise<GitProcess> {
    command.signal?.throwIfAborted()
    const { work = workOf(command.verb) } = command
    const isSlow = work === 'import' || work === 'upkeep'
    const pool = (isSlow && settings.slowPool) || settings.pool
    const slot = await pool?.acquire(command.owner ?? NOBODY, command.signal)
    try {
      settings.onStart?.(work)
      const child = await launch(settings, { gitDir, command, work, slot })
      running.add(child)
      if (isOver) void child.stop()
      child.done.catch(() => {}).finally(() => running.delete(child))
      return child
    } catch (error) {
      slot?.release()
      throw error
    }
  }

  async function run(gitDir: string, command: CheckedCommand & Collecting): Promise<Output> {
    const { maxBytes = 16 * 1024 * 1024, truncate = false } = command
    const child = await start(gitDir, command)
    const chunks: Buffer[] = []
    let size = 0
    child.stdout.on('data', (chunk: Buffer) => {
      if (size <= maxBytes) chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) void child.stop()
    })
    const outcome = await child.done.catch((error: unknown) => {
      if (size > maxBytes) return 0
      throw error
    })
    if (size > maxBytes && !truncate) throw new OutputTooLarge(command.verb, maxBytes)
    const stdout = Buffer.concat(chunks)
    return { stdout: stdout.subarray(0, maxBytes), exitCode: outcome, truncated: size > maxBytes }
  }

  return {
    run: run as Git['run'],
    start: start as Git['start'],
    async stopAll() {
      isOver = true
      await Promise.all([...running].map((child) => child.stop()))
    },
  }
}

/** A command whose literals have already been checked by the compiler. */
interface CheckedCommand extends Circumstances {
  verb: string
  options?: readonly (string | false | undefined)[]
  values?: readonly Value[]
  paths?: readonly TreePath[]
}

/** What a process has, whoever started it. */
interface Started {
  readonly pid?: number | undefined
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  readonly exitCode: number | null
  readonly signalCode: NodeJS.Signals | null
  once(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'close', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown
}

async function launch(
  settings: GitSettings,
  {
    gitDir,
    command,
    work,
    slot,
  }: { gitDir: string; command: CheckedCommand; work: GitWork; slot: Slot | undefined },
): Promise<GitProcess> {
  const { verb, stdin, accept = [0], signal } = command
  const allowance = allowances[work]
  const timeoutMs = Math.min(command.timeoutMs ?? Infinity, allowance.wallMs)
  const limits = shellLimits({ ...allowance, fileBytes: command.maxFileBytes })
  const { binary = 'git' } = settings
  const args = argumentsOf(gitDir, command)
  const env = environmentOf(gitDir, command)
  const { into } = command
  const from = isInputFile(stdin) ? stdin.file : undefined
  const child: Started =
    (await settings.launchers?.take({ program: binary, args, env, from, into, limits })) ??
    spawn('/bin/sh', ['-c', limitedBy(limits, from), from ?? '', binary, ...args], {
      cwd: '/',
      env,
      stdio: ['pipe', into ?? 'pipe', 'pipe'],
      // A group of its own, so that git's helpers end together with it.
      detached: true,
    })
  const precedence = stepBackWhenLong(child.pid)
  // One that could not be started may have no pipes; its error follows.
  const pipes = {
    in: child.stdin ?? new PassThrough(),
    out: child.stdout ?? Readable.from([]),
    err: child.stderr ?? Readable.from([]),
  }

  pipes.out.on('error', () => {})
  let stderr = Buffer.alloc(0)
  pipes.err.on('data', (chunk: Buffer) => {
    stderr = Buffer.concat([stderr, chunk]).subarray(-MAX_STDERR_BYTES)
    command.onStderr?.(chunk)
  })

  let stopReason: { error: unknown } | undefined
  let isGone = false
  let killTimer: NodeJS.Timeout | undefined
  // Once git is gone its id may be another's, so only a git that still runs is signalled.
  const kill = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) killGroup(child.pid, name)
  }
  const end = (error: unknown) => {
    if (stopReason || isGone) return
    stopReason = { error }
    kill('SIGTERM')
    killTimer = setTimeout(() => kill('SIGKILL'), GRACE_MS)
    // Whoever reads learns why it ended, and output that nobody reads does not hold up the end.
    pipes.out.destroy(error instanceof Error ? error : undefined)
  }
  const onAbort = () => end(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  // While it was being started.
  if (signal?.aborted) onAbort()
  const timeout = setTimeout(() => end(new GitTimeout(verb, timeoutMs)), timeoutMs)

  const done = new Promise<number>((resolve, reject) => {
    const settle = (code: number | null, killedBy: string | null, cause?: unknown) => {
      isGone = true
      clearTimeout(timeout)
      clearTimeout(killTimer)
      precedence[Symbol.dispose]()
      signal?.removeEventListener('abort', onAbort)
      slot?.release()
      if (stopReason) reject(stopReason.error)
      else if (!cause && code !== null && accept.includes(code)) resolve(code)
      else {
        const said = stderr.toString('utf8')
        const error = new GitError({ args, exitCode: code, signal: killedBy, stderr: said }, verb, cause)
        if (FULL_DISK.test(said)) reject(new OutOfSpace(`git ${verb} had no room`, { cause: error }))
        else reject(wasOverLimit(killedBy, said) ? new GitOverLimit(error.message, { cause: error }) : error)
      }
    }
    child.once('error', (error) => settle(null, null, error))
    child.once('close', (code, killedBy) => {
      // What the shell says in whose place git was to come.
      if (code === NOT_FOUND || code === NOT_EXECUTABLE) settle(null, null, new Error('there is no such git'))
      else settle(code, killedBy)
    })
  })
  // Whoever only reads the stream learns of a failure when asking for `done`.
  done.catch(() => {})
  const input = isInputFile(stdin) ? '' : (stdin ?? '')
  feed(pipes.in, input === 'open' ? undefined : input, end)

  const stop = async () => {
    end(new GitError({ args, exitCode: null, signal: 'SIGTERM', stderr: '' }, verb))
    await done.catch(() => {})
  }
  return {
    stdout: pipes.out,
    stdin: stdin === 'open' ? pipes.in : undefined,
    done,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** What a launcher does, for a process that is started without one. The name of the script is that of its input. */
const limitedBy = (limits: readonly string[], from: string | undefined): string =>
  `${limits.map((limit) => `ulimit ${limit} 2> /dev/null; `).join('')}exec "$@"${from === undefined ? '' : ' < "$0"'}`

function argumentsOf(gitDir: string, command: CheckedCommand): string[] {
  const { verb, options = [], values = [], paths } = command
  const chosen = options.filter((option) => typeof option === 'string')
  return [`--git-dir=${gitDir}`, verb, ...chosen, ...values, ...(paths ? ['--', ...paths] : [])]
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // It has already gone.
  }
}
