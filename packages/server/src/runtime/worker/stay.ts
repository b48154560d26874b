// A run in a process, from its arrival to its end, however that comes about.

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { boundedLog, type LogBounds } from '../ctx/logging.ts'
import type { Host, Job, Outcome } from '../runtime.ts'
import type { Guest } from './guests.ts'
import type { House } from './house.ts'
import type { Order } from './inside/wrapper.ts'
import { outcomeOf, type ReadStack } from './outcomes.ts'
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

const NEIGHBOUR = 'Its process was ended because of another run of the organization'

export async function stay({ house, key, job, host, signal, limits, readStack }: Stay): Promise<Outcome> {
  const over = new AbortController()
  const cut = new AbortController()
  const began = Promise.withResolvers<void>()
  const withdrawn = Promise.withResolvers<Outcome>()
  const guest: Guest = {
    token: randomBytes(16).toString('hex'),
    key,
    job,
    call: (method, args) => host.call(method, args, over.signal),
    log: boundedLog(limits.log, (line) =>
      host.log({ ...line, message: readStack(line.message, job.module) }),
    ),
    isBegun: false,
    activeAt: 0,
    heard: Promise.withResolvers(),
    onBegin: began.resolve,
    withdraw: () => withdrawn.resolve({ kind: 'not begun', reason: 'Its process was busy with another run' }),
  }
  let toldToEnd: string | undefined

  async function ended(): Promise<Outcome> {
    await house.exited
    const { guilty, error } = house.doom ?? { guilty: undefined, error: 'Its process ended' }
    if (!guest.isBegun) return { kind: 'not begun', reason: `Before it began: ${error}` }
    return { kind: 'ended', error: guilty === undefined || guilty === guest ? error : NEIGHBOUR }
  }

  async function answered(): Promise<Outcome> {
    const characters = limits.outputCharacters * 2 + ENVELOPE_CHARACTERS
    const path = `/run/${guest.token}/${key}`
    try {
      const answer = await house.post(path, orderOf(guest, limits), { characters, signal: cut.signal })
      await Promise.race([guest.heard.promise, house.exited, delay(LAST_WORDS_MS, undefined, { ref: false })])
      if (toldToEnd !== undefined) return { kind: 'ended', error: toldToEnd }
      return outcomeOf(answer, job, readStack)
    } catch (error) {
      if (error instanceof AnswerTooLong) return { kind: 'ended', error: 'Its output is too large' }
      if (cut.signal.aborted) return new Promise(() => {})
      await Promise.race([house.exited, delay(LAST_WORDS_MS, undefined, { ref: false })])
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
    const late = delay(job.timeoutMs, undefined, { signal: over.signal, ref: false })
    const reason =
      (await Promise.race([late, cancelled])) === CANCELLED ? 'It was cancelled' : tookLonger(job)
    toldToEnd = reason
    house.post(`/abort/${guest.token}`, reason, { characters: 100, signal: over.signal }).catch(() => {})
    await delay(limits.graceMs, undefined, { signal: over.signal, ref: false })
    while (!(await house.answers(AbortSignal.timeout(ANSWER_MS)))) {
      over.signal.throwIfAborted()
      if (house.suspect() === guest) house.end({ guilty: guest, error: reason })
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
    house.leave(guest)
  }
}

const tookLonger = ({ timeoutMs }: Job) =>
  `It took longer than ${timeoutMs < 1000 ? `${timeoutMs} ms` : `${timeoutMs / 1000} s`}`

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
