import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { descriptorsAfter } from '../descriptors.ts'
import { FILES, SOCKETS } from './settings.ts'

/** What is kept of what a process says about itself. */
const SAID_CHARACTERS = 4_000
/** workerd closes a connection that has been idle for five seconds. */
const IDLE_CONNECTION_MS = 3_000
/** The server comes first, and with it everybody who runs nothing; then those who take little. */
const NICENESS = { usual: 5, behind: 10, greedy: 19 }
/** Of processor time, as the kernel counts it. */
const TICK_MS = 10

export interface Exit {
  /** Its status, or the signal that ended it. */
  how: string
  /** The end of what it wrote to stderr. */
  said: string
}

/** One process of workerd. */
export interface Workerd {
  /** Rejects when the process is gone, or the answer is longer than this. */
  post(path: string, body: string, options: { characters: number; signal?: AbortSignal }): Promise<Answer>
  /** Whether its thread comes round to answering, before the signal says that nobody waits any more. */
  answers(signal?: AbortSignal): Promise<boolean>
  kill(): void
  /** When it has ended and everything it said has been heard. */
  exited: Promise<Exit>
  /** What it uses, where the system tells. */
  memoryMb(): number | undefined
  /** What the kernel holds against its bound: also what it has set aside and never used. */
  dataMb(): number | undefined
  cpuMs(): number | undefined
  /** Lets all others go first, or not any more. */
  setGreedy(isGreedy: boolean): void
}

interface Answer {
  status: number
  text: string
}

interface StartOptions {
  command: readonly string[]
  directory: string
  startMs: number
  /** Whether others go first from its start. */
  isBehind: boolean
  /** Called with every piece of its stdout. */
  hear(text: string): void
}

/** Rejects when it does not start to listen in time. */
export async function startWorkerd({
  command,
  directory,
  startMs,
  isBehind,
  hear,
}: StartOptions): Promise<Workerd> {
  const [program = '', ...args] = [...command, 'serve', '--experimental', '--control-fd=3', FILES.config]
  const child = spawn(program, args, {
    cwd: directory,
    env: {},
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', ...descriptorsAfter(4)],
    // A group of its own, which is ended as a whole.
    detached: true,
  })
  if (child.pid !== undefined) {
    setNiceness(child.pid, NICENESS.usual)
    if (isBehind) setNicenessOfSession(child.pid, NICENESS.behind)
  }
  let said = ''
  let isOver = false
  child.stdin?.on('error', () => {})
  child.stdout?.setEncoding('utf8').on('data', hear)
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-SAID_CHARACTERS)
  })
  const exited = new Promise<Exit>((resolve) => {
    child.on('error', (error) => resolve({ how: error.message, said }))
    child.on('close', (code, signal) => {
      isOver = true
      resolve({ how: signal ?? `status ${code}`, said })
    })
  })
  const kill = () => {
    if (isOver || child.pid === undefined) return
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      child.kill('SIGKILL')
    }
  }
  await listening(child, exited, startMs).catch((error: unknown) => {
    kill()
    throw error
  })

  const pid = findProgram(child.pid ?? 0)
  const agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS })
  void exited.then(() => agent.destroy())
  const socketPath = join(directory, SOCKETS.in)

  const post: Workerd['post'] = (path, body, { characters, signal }) =>
    new Promise((resolve, reject) => {
      const sent = request(
        { socketPath, path, method: 'POST', agent, ...(signal && { signal }) },
        (response) => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (piece: string) => {
            text += piece
            if (text.length > characters) response.destroy(new AnswerTooLong())
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
          response.on('error', reject)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })

  return {
    post,
    answers: (signal) =>
      post('/ping', '', { characters: 100, ...(signal && { signal }) }).then(
        () => true,
        () => false,
      ),
    kill,
    exited,
    memoryMb: () => statusOf(pid, /^VmRSS:\s*(\d+)/m),
    dataMb: () => statusOf(pid, /^VmData:\s*(\d+)/m),
    cpuMs() {
      // After the name, which may hold anything, the twelfth and thirteenth.
      const [user, system] = textOf(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ').slice(11, 13) ?? []
      return user === undefined || system === undefined
        ? undefined
        : (Number(user) + Number(system)) * TICK_MS
    },
    setGreedy(isGreedy) {
      if (pid === undefined) return
      const niceness = isGreedy ? NICENESS.greedy : NICENESS.usual
      for (const thread of threadsOf(pid)) setNiceness(thread, niceness)
      setNicenessOfSession(pid, niceness)
    },
  }
}

/** What came back is longer than anything that was asked for. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
}

async function listening(child: ChildProcess, exited: Promise<Exit>, startMs: number): Promise<void> {
  const control = child.stdio[3]
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  control?.on('error', () => {}).once('data', () => resolve())
  void exited.then(({ how, said }) => reject(new Error(`workerd ended with ${how}: ${firstLine(said)}`)))
  const timer = setTimeout(() => reject(new Error(`workerd did not start within ${startMs} ms`)), startMs)
  await promise.finally(() => clearTimeout(timer))
}

/** Of one thread, and of what it starts. Only root may take back that it was raised. */
function setNiceness(thread: number, niceness: number): void {
  try {
    setPriority(thread, niceness)
  } catch {
    // It has ended, or has to stay as it is.
  }
}

/**
 * Where the kernel groups processes by session (`sched_autogroup_enabled`, as most do), being nice counts only among those
 * of the same one, and each of these has its own.
 */
function setNicenessOfSession(pid: number, niceness: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness))
  } catch {
    // There is no such thing, or it has ended, or has to stay as it is.
  }
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return []
  }
}

/** Where it sees no other process it complains of that first. */
const firstLine = (text: string) =>
  text
    .split('\n')
    .find((line) => line.trim() !== '' && !line.includes('program executable'))
    ?.slice(0, 300) ?? ''

/** The process itself, not what was put around it or beside it. */
function findProgram(pid: number): number | undefined {
  if (textOf(`/proc/${pid}/comm`).trim() === 'workerd') return pid
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  for (const child of children) {
    const found = findProgram(child)
    if (found !== undefined) return found
  }
  return undefined
}

/** A number of kilobytes, in megabytes. */
function statusOf(pid: number | undefined, line: RegExp): number | undefined {
  const kilobytes = line.exec(textOf(`/proc/${pid}/status`))?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
