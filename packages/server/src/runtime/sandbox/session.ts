// A run in a sandbox, from its start to its end, however that comes about.

import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { answerCall } from '../calls.ts'
import { createBlank } from '../ctx/blanking.ts'
import { cutTo, type LogBounds } from '../ctx/logging.ts'
import { descriptorsAfter } from '../descriptors.ts'
import type { Host, Job, LogLevel, Outcome } from '../runtime.ts'
import type { ReadStack } from '../stacks.ts'
import type { Group } from './cgroups.ts'
import { commandFor, type Launch } from './command.ts'
import { type Conversation, converse } from './conversation.ts'
import { keepDeadline } from './deadline.ts'
import type { Order } from './inside/messages.ts'
import { readLines } from './lines.ts'
import { type Exit, exitOf, verdictOn } from './outcomes.ts'
import { processesBelow, signalAll } from './processes.ts'
import { createRunLog } from './run-log.ts'
import { watch } from './watch.ts'

export interface SessionLimits {
  /** What a module has to end by itself, after it was told to, and again after it was asked by SIGTERM. */
  graceMs: number
  startMs: number
  memoryMb: number
  diskMb: number
  processes: number
  outputCharacters: number
  /** Of the arguments of a call, and of an answer. */
  callCharacters: number
  /** What may be written to stdout and stderr, most of which is not kept. */
  writtenBytes: number
  log: LogBounds
}

interface Session {
  job: Job
  host: Host
  signal: AbortSignal
  launch: Launch
  group: Group
  limits: SessionLimits
  readStack: ReadStack
}

/** Behind whatever else the machine does. */
const NICENESS = 5
/** How Node says why it aborts. */
const HEAP_IS_FULL = 'JavaScript heap out of memory'
/** What is kept of what is said before there is a module. */
const SAID_CHARACTERS = 2_000
/** What a message has besides a call or an output. */
const ENVELOPE_BYTES = 64 * 1024

/** Never throws for what a module does. */
export async function runSession(session: Session): Promise<Outcome> {
  const { job, host, signal, launch, group, limits, readStack } = session
  const child = start(launch)
  if (child.pid === undefined) return { kind: 'not begun', reason: (await exited(child)).how }
  const { pid } = child
  const over = new AbortController()
  const ready = Promise.withResolvers<void>()
  const blank = createBlank(Object.values(job.secrets))
  const log = createRunLog(limits.log, blank, (line) =>
    host.log({ ...line, message: readStack(line.message) }),
  )
  let isReady = false
  let startWords = ''
  let written = 0
  let saysHeapIsFull = false
  let ending: string | undefined

  /** All of it: the processes inside end with bubblewrap. */
  function kill(error: string): void {
    ending ??= error
    if (child.exitCode === null && child.signalCode === null) signalAll([-pid], 'SIGKILL')
  }

  const conversation: Conversation = converse({
    said: child.stdio[3] as Readable,
    told: child.stdio[4] as Writable,
    orgId: job.orgId,
    order: orderOf(job, limits),
    messageBytes: ENVELOPE_BYTES + Math.max(limits.callCharacters, 4 * 2 * limits.outputCharacters),
    lines: limits.log.lines,
    callCharacters: limits.callCharacters,
    answer: (method, args) => answerCall(job, method, () => host.call(method, args, over.signal)),
    log: log.write,
    onReady() {
      isReady = true
      ready.resolve()
    },
    onNonsense: kill,
  })

  const lines = (stream: Readable | null, level: LogLevel) =>
    stream &&
    readLines(stream, {
      maxBytes: limits.log.lineCharacters,
      onLine(line, cut) {
        if (!isReady) startWords = `${startWords}${line}\n`.slice(0, SAID_CHARACTERS)
        else log.write({ level, message: cutTo(line, limits.log.lineCharacters, blank, cut) })
      },
      onChunk(chunk) {
        written += chunk.length
        saysHeapIsFull ||= chunk.includes(HEAP_IS_FULL)
        if (written > limits.writtenBytes)
          kill(`It wrote more than ${limits.writtenBytes / 2 ** 20} MB to its output`)
      },
      isWanted: () => !log.isFull,
    })

  const watching = watch({
    ...{ pid, group, memoryMb: limits.memoryMb, diskMb: limits.diskMb },
    processes: limits.processes,
    countsMemory: launch.isMemoryCounted,
    countsProcesses: launch.areProcessesCounted,
    onOver: kill,
  })
  try {
    keepDeadline({
      ...{ ready: ready.promise, cancelled: signal, over: over.signal, timeoutMs: job.timeoutMs },
      ...{ startMs: limits.startMs, graceMs: limits.graceMs, end: kill },
      tell(reason) {
        ending ??= reason
        void conversation.tell({ abort: reason })
      },
      ask: async () => signalAll((await processesBelow(pid)).processes, 'SIGTERM'),
    }).catch(() => {})
    const [exit] = await Promise.all([
      exited(child).finally(conversation.close),
      conversation.ended,
      lines(child.stdout, 'info'),
      lines(child.stderr, 'error'),
    ])
    const { wasOutOfMemory } = await group.count()
    return verdictOn({
      ...{ job, exit, ending, isReady, startWords, saysHeapIsFull, wasOutOfMemory, limits, readStack },
      done: conversation.done,
    })
  } finally {
    over.abort()
    watching.stop()
  }
}

function start(launch: Launch): ChildProcess {
  const { program, args, cwd, env } = commandFor(launch)
  const child = spawn(program, args, {
    ...{ cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', ...descriptorsAfter(5)] },
    // A group of its own, which is ended as a whole.
    detached: true,
  })
  if (child.pid !== undefined) setPriority(child.pid, NICENESS)
  return child
}

const exited = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: undefined, how: error.message }))
    child.on('exit', (code, signal) => resolve(exitOf(code, signal)))
  })

function orderOf(job: Job, { log, outputCharacters }: SessionLimits): Order {
  const { runId, module, input, run, capabilities, secrets } = job
  return { runId, code: module.code, input, run, capabilities, secrets, log, outputCharacters }
}
