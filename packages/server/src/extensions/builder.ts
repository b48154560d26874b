import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import type { Runtime } from '@trellis/contract'
import type { BuildMessage, FileAnswer, FromBuilder, ToBuilder } from './build-messages.ts'

const START_MS = 15_000
const IDLE_MS = 30_000
/** Of the part that asks for files, and of esbuild. */
const HEAP_MB = 192
const ESBUILD_MB = 4096

/** The process that builds cannot be started. Nothing is known of the module. */
export class BuilderUnavailable extends Error {
  override readonly name = 'BuilderUnavailable'
}

export interface Bundle {
  code: Uint8Array
  sourceMap: Uint8Array
}

export type BuildOutcome =
  | { bundle: Bundle }
  | { messages: BuildMessage[] }
  /** It took too long, or took the process with it. */
  | { gaveUp: string }

/** Gives the file that an import means. */
export type Answer = (specifier: string, importer?: string) => Promise<Omit<FileAnswer, 'question'>>

interface BuildTask {
  entry: string
  runtime: Runtime
  answer: Answer
  signal: AbortSignal
}

export type Builder = ReturnType<typeof createBuilder>

const require = createRequire(import.meta.url)

/** Which esbuild it is; the number behind it grows when it is used in another way. */
export const BUNDLER_VERSION = `esbuild ${(require('esbuild/package.json') as { version: string }).version}-1`

interface BuilderOptions {
  timeoutMs: number
  /** What the process runs on, for tests of what happens when there is none. */
  execPath?: string
}

/** Builds in processes of their own, which are kept for a while, and ended with whatever goes wrong in them. */
export function createBuilder({ timeoutMs, execPath = process.execPath }: BuilderOptions) {
  const idle = new Map<ChildProcess, NodeJS.Timeout>()
  const all = new Set<ChildProcess>()
  let orders = 0
  let started = 0

  function end(child: ChildProcess): void {
    clearTimeout(idle.get(child))
    idle.delete(child)
    // Its number may be another's by now.
    if (!all.delete(child) || child.pid === undefined) return
    try {
      // With esbuild, which it has started.
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      child.kill('SIGKILL')
    }
  }

  async function take(): Promise<ChildProcess> {
    const [kept] = idle.keys()
    if (!kept) return start()
    clearTimeout(idle.get(kept))
    idle.delete(kept)
    return kept
  }

  function spawn(): ChildProcess {
    try {
      return fork(join(import.meta.dirname, 'build-process.ts'), [], {
        execPath,
        execArgv: [`--max-old-space-size=${HEAP_MB}`],
        serialization: 'advanced',
        detached: true,
        cwd: '/',
        env: limits(),
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      })
    } catch (error) {
      // There may be no esbuild for this machine, or no place for a process.
      throw unavailable(error)
    }
  }

  async function start(): Promise<ChildProcess> {
    started++
    const child = spawn()
    all.add(child)
    child.unref()
    return new Promise((resolve, reject) => {
      const settle = (error?: Error) => {
        clearTimeout(late)
        child.off('message', ready).off('exit', exited)
        if (!error) return resolve(child)
        end(child)
        reject(unavailable(error))
      }
      const ready = () => settle()
      const exited = (code: number | null) => settle(new Error(`it ended with ${code}`))
      const late = setTimeout(() => settle(new Error('it says nothing')), START_MS)
      child.once('message', ready).once('exit', exited)
      // Stays: it may also fail later, and then it ends.
      child.on('error', (error) => {
        settle(error)
        end(child)
      })
      child.once('exit', () => end(child))
    })
  }

  function keep(child: ChildProcess): void {
    if (!all.has(child)) return
    idle.set(child, setTimeout(() => end(child), IDLE_MS).unref())
  }

  function run(child: ChildProcess, { entry, runtime, answer, signal }: BuildTask): Promise<BuildOutcome> {
    const order = ++orders
    return new Promise((resolve, reject) => {
      const settle = (outcome: BuildOutcome | { error: unknown }, isReusable = false) => {
        clearTimeout(late)
        child.off('message', hear).off('exit', died)
        signal.removeEventListener('abort', aborted)
        if (isReusable) keep(child)
        else end(child)
        if ('error' in outcome) reject(outcome.error)
        else resolve(outcome)
      }
      const say = (message: ToBuilder) => {
        // One that has gone is noticed by its exit.
        if (child.connected) child.send(message, () => {})
      }
      const hear = (message: FromBuilder) => {
        if (!('order' in message) || message.order !== order) return
        if ('question' in message)
          answer(message.specifier, message.importer).then(
            (found) => say({ question: message.question, ...found }),
            (error: unknown) => settle({ error }),
          )
        else if (message.bundle) settle({ bundle: message.bundle }, true)
        else settle({ messages: message.messages ?? [] }, true)
      }
      const died = () =>
        settle({ gaveUp: 'The build ended the process it ran in: it may need too much memory' })
      const aborted = () => settle({ error: signal.reason })
      const late = setTimeout(
        () => settle({ gaveUp: `The build took longer than ${timeoutMs / 1000} seconds` }),
        timeoutMs,
      )
      child.on('message', hear).once('exit', died)
      signal.addEventListener('abort', aborted, { once: true })
      if (signal.aborted) return aborted()
      if (!child.connected) return died()
      say({ order, entry, runtime })
    })
  }

  return {
    /** Throws BuilderUnavailable, or what `answer` throws. */
    build: async (task: BuildTask): Promise<BuildOutcome> => run(await take(), task),

    /** How many processes have been started so far. */
    get started() {
      return started
    },

    close(): void {
      for (const child of all) end(child)
    },
  }
}

const unavailable = (cause: unknown) =>
  new BuilderUnavailable('the process that builds cannot be started', { cause })

function limits(): Record<string, string> {
  const fromEsbuild = createRequire(require.resolve('esbuild'))
  return {
    ESBUILD_BINARY_PATH: join(import.meta.dirname, 'esbuild-within.sh'),
    BUILD_ESBUILD: fromEsbuild.resolve(`@esbuild/${platform()}-${arch()}/bin/esbuild`),
    BUILD_MEMORY_KB: String(ESBUILD_MB * 1024),
    GOMEMLIMIT: '512MiB',
    GOMAXPROCS: '1',
  }
}
