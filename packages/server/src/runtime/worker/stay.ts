// A run in a process, from its arrival to its end, however that comes about.

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isStep } from '../calls.ts'
import { createBlank } from '../ctx/blanking.ts'
import { boundedLog, type LogBounds } from '../ctx/logging.ts'
import type { StepAnswer } from '../ctx/steps.ts'
import type { Host, Job, Outcome } from '../runtime.ts'
import type { ReadStack } from '../stacks.ts'
import type { Guest } from './guests.ts'
import type { House } from './house.ts'
import type { Order } from './inside/wrapper.ts'
import { answeredOutcome, tookLonger } from './outcomes.ts'
import { AnswerTooLong } from './workerd.ts'

export interface StayLimits {
  /** What a module has to end by itself, after it was told to. */
  graceMs: number
  outputCharacters: number
  log: LogBounds
}

interface Stay {
  house: House
  key: string
  job: Job
  host: Host
  signal: AbortSignal
  limits: StayLimits
  readStack: ReadStack
}

/** How long a thread that is asked whether it comes round may take. */
const ANSWER_MS = 500
/** What an answer has besides the output. */
const ENVELOPE_CHARACTERS = 64 * 1024
/** How long to wait for the end of what was said, or of a process that hung up. */
const LAST_WORDS_MS = 2_000

/** What a step has, besides its own time, to tell that it was over. */
const STEP_MARGIN_MS = 1_000

export async function stay({ house, key, job, host, signal, limits, readStack }: Stay): Promise<Outcome> {
  const over = new AbortController()
  const cut = new AbortController()
  const began = Promise.withResolvers<void>()
  /** Not the promise of the process: whoever waits for that is kept as long as it lives. */
  const gone = Promise.withResolvers<void>()
  const withdrawn = Promise.withResolvers<Outcome>()
  const guest: Guest = {
    token: randomBytes(16).toString('hex'),
    key,
    job,
    async call(method, args) {
      const answer = await host.call(method, args, over.signal)
      if (job.workflow && isStep(method)) time.start(allowance(answer as StepAnswer, job))
      return answer
    },
    log: boundedLog(limits.log, createBlank(Object.values(job.secrets)), (line) =>
      host.log({ ...line, message: readStack(line.message) }),
    ),
    isBegun: false,
    heard: Promise.withResolvers(),
    onBegin: began.resolve,
    onExit: gone.resolve,
    withdraw: () =>
      withdrawn.resolve({ kind: 'not begun', reason: 'Its process was busy with what an earlier run left' }),
  }
  const time = createTime()
  let toldToEnd: string | undefined

  async function ended(): Promise<Outcome> {
    await gone.promise
    const { error } = house.doom ?? { error: 'Its process ended' }
    return guest.isBegun
      ? { kind: 'ended', error }
      : { kind: 'not begun', reason: `Before it began: ${error}` }
  }

  async function answered(): Promise<Outcome> {
    const characters = limits.outputCharacters * 2 + ENVELOPE_CHARACTERS
    const path = `/run/${guest.token}/${key}`
    try {
      const answer = await house.post(path, orderOf(guest, limits), { characters, signal: cut.signal })
      await Promise.race([
        guest.heard.promise,
        gone.promise,
        delay(LAST_WORDS_MS, undefined, { ref: false, signal: over.signal }),
      ])
      if (toldToEnd !== undefined) return { kind: 'ended', error: toldToEnd }
      return answeredOutcome(answer, job, readStack)
    } catch (error) {
      if (error instanceof AnswerTooLong) return { kind: 'ended', error: 'Its output is too large' }
      if (cut.signal.aborted) return new Promise(() => {})
      // It is on its way out, which takes as long as the machine is busy.
      if (house.doom) return ended()
      await Promise.race([gone.promise, delay(LAST_WORDS_MS, undefined, { ref: false, signal: over.signal })])
      if (!guest.isBegun) return { kind: 'not begun', reason: 'The connection to its process was lost' }
      house.isLeaving = true
      return { kind: 'ended', error: 'The connection to its process was lost' }
    }
  }

  /** When its time is over, or nobody wants it any more. */
  async function stopped(): Promise<Outcome> {
    const cancelled = aborted(signal, over.signal)
    if ((await Promise.race([began.promise, cancelled])) === CANCELLED)
      return { kind: 'not begun', reason: 'It was cancelled' }
    time.start(job.timeoutMs)
    const reason =
      (await Promise.race([time.over, cancelled])) === CANCELLED ? 'It was cancelled' : tookLonger(job)
    toldToEnd = reason
    house.post(`/abort/${guest.token}`, reason, { characters: 100, signal: over.signal }).catch(() => {})
    await delay(limits.graceMs, undefined, { signal: over.signal, ref: false })
    while (!(await house.answers(AbortSignal.timeout(ANSWER_MS)))) {
      over.signal.throwIfAborted()
      house.end({ isGuilty: true, error: reason })
    }
    return { kind: 'ended', error: reason }
  }

  house.enter(guest)
  try {
    const stop = stopped()
    // It ends with an error when the run has ended before.
    stop.catch(() => {})
    return await Promise.race([withdrawn.promise, answered(), ended(), stop])
  } finally {
    over.abort()
    cut.abort()
    time.stop()
    house.leave()
  }
}

/** Of a workflow every stretch between steps has its time, and a step the time it was given. */
const allowance = (answer: StepAnswer, { timeoutMs }: Job): number =>
  answer.is === 'run' ? Math.max(timeoutMs, (answer.timeoutMs ?? 0) + STEP_MARGIN_MS) : timeoutMs

function createTime() {
  const over = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  const stop = () => clearTimeout(timer)
  return {
    over: over.promise,
    start(ms: number): void {
      stop()
      timer = setTimeout(over.resolve, ms).unref()
    },
    stop,
  }
}

const CANCELLED = Symbol('cancelled')

/** Listens until the other signal. */
const aborted = (signal: AbortSignal, until: AbortSignal): Promise<typeof CANCELLED> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(CANCELLED)
    signal.addEventListener('abort', () => resolve(CANCELLED), { once: true, signal: until })
  })

function orderOf({ token, job }: Guest, { log, outputCharacters }: StayLimits): string {
  const { runId, input, run, capabilities, secrets, workflow } = job
  const order: Order = {
    ...{ token, runId, input, run, capabilities, secrets, log, outputCharacters },
    ...(workflow && { startedAt: workflow.startedAt }),
  }
  return JSON.stringify(order)
}
