import type { Call } from './context.ts'
import { describeThrown, errorFromWire, errorToWire, type WireError } from './errors.ts'
import { asOnce, isRepeated, type Repeatable, randomFrom } from './repeatable.ts'

/** As in `@trellis/extension`. */
export interface Step {
  do(name: string, ...rest: [options: StepOptions, fn: () => unknown] | [fn: () => unknown]): Promise<unknown>
  sleep(name: string, ms: number): Promise<unknown>
  sleepUntil(name: string, ts: number | Date): Promise<unknown>
  waitForEvent(name: string, event: { type: string; subject?: string; timeoutMs?: number }): Promise<unknown>
}

interface StepOptions {
  retries?: number
  delayMs?: number
  backoff?: 'constant' | 'exponential'
  timeoutMs?: number
}

/**
 * The argument of `step.begin`: what the module wants, checked by the host and written down before anything is done.
 *
 * `index` counts the steps of a run in the order the module began them, from 0, and they are asked for in this order, each
 * after the answer to the one before. A run that is resumed begins all of them anew: the host answers from its journal, and where the journal has another name or kind at this index, or this name
 * at another, it answers `refused`.
 */
export type StepBegin = { index: number; name: string } & (
  | { kind: 'do'; options: StepOptions }
  | { kind: 'sleep'; ms: number }
  | { kind: 'sleepUntil'; ts: number }
  | { kind: 'waitForEvent'; event: { type: string; subject?: string; timeoutMs?: number } }
)

type WithoutIndex<T> = T extends unknown ? Omit<T, 'index'> : never
type Asked = WithoutIndex<StepBegin>

/** The argument of `step.end`: how an attempt went. `result` is JSON; absent when there is none. */
export type StepEnd = { index: number; name: string; attempt: number } & (
  | { result?: unknown }
  | { error: WireError }
)

/**
 * What the host answers to both.
 *
 * - `done`, `failed`: it is in the journal. `order` counts the steps of a run in the order they got there, from 1, and
 *   `at` is when: the module hears of them in this order, so that a run that is resumed goes the same way, and `at` is
 *   what `Date.now()` gives it from then on.
 * - `run`: do it, and tell with `step.end`. After an attempt that failed this is the answer when it is to be tried again
 *   now; the host may take its time before it answers, to keep a short delay.
 * - `wait`: later. When everything that a module is doing waits, the run is suspended.
 * - `refused`: the run ends with this error, whatever the module does about it.
 */
export type StepAnswer =
  | { is: 'done'; order: number; at: number; result?: unknown }
  | { is: 'failed'; order: number; at: number; error: WireError }
  | { is: 'run'; attempt: number; timeoutMs?: number }
  | { is: 'wait' }
  | { is: 'refused'; error: WireError }

type Stopped = { is: 'suspended' } | { is: 'refused'; error: Error }

/** A module that only waits is given this long to begin something else before the run is suspended. */
const QUIET_MS = 20
/** What the journal has is delivered in order. If the step whose turn it is has not begun by then, it never will. */
const OUT_OF_ORDER_MS = 5_000

interface Steps {
  step: Step
  /** What everything that the module asks the host goes through, so that it is known whether it is doing something. */
  call: Call
  world: Repeatable
  /** When there is no more to be done in this stretch. */
  stopped: Promise<Stopped>
}

type Ended = Extract<StepAnswer, { order: number }>

/** The steps of one stretch of a workflow: from its beginning, or from a resumption, to its end or the next wait. */
export function createSteps({
  call,
  runId,
  startedAt,
}: {
  call: Call
  runId: string
  startedAt: number
}): Steps {
  const stopped = Promise.withResolvers<Stopped>()
  const names = new Set<string>()
  /** In the journal, and not yet told: one before has to be told first. */
  const held = new Map<number, () => void>()
  let begun: Promise<unknown> = Promise.resolve()
  let numberOfSteps = 0
  let now = startedAt
  let told = 0
  let busy = 0
  let waiting = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  async function working<T>(work: () => Promise<T>): Promise<T> {
    busy++
    clearTimeout(timer)
    try {
      return await work()
    } finally {
      busy--
      look()
    }
  }

  function look(): void {
    clearTimeout(timer)
    if (busy > 0) return
    if (held.size > 0)
      timer = setTimeout(
        () => stopped.resolve({ is: 'refused', error: new Error(ORDER_CHANGED) }),
        OUT_OF_ORDER_MS,
      )
    else if (waiting > 0) timer = setTimeout(() => stopped.resolve({ is: 'suspended' }), QUIET_MS)
  }

  /** Resolves when it is the turn of this step. */
  function inOrder(ended: Ended): Promise<Ended> {
    return new Promise((resolve) => {
      held.set(ended.order, () => {
        now = ended.at
        resolve(ended)
      })
      for (let next = held.get(told + 1); next; next = held.get(told + 1)) {
        held.delete(++told)
        next()
      }
      look()
    })
  }

  const never = () => new Promise<never>(() => {})

  async function attempt(answer: { attempt: number; timeoutMs?: number }, fn: () => unknown) {
    try {
      const result = await within(answer.timeoutMs, async () => asOnce(fn))
      // Thrown here if it is no JSON.
      return result === undefined ? {} : { result: JSON.parse(JSON.stringify(result)) as unknown }
    } catch (error) {
      const { stack } = describeThrown(error)
      return { error: { ...errorToWire(error), ...(stack !== undefined && { stack }) } }
    }
  }

  /** One that the host does not take is none, and the module may go on without it. */
  async function begin(asked: Asked): Promise<{ index: number; answer: StepAnswer }> {
    const index = numberOfSteps
    try {
      const answer = await ask('step.begin', { ...asked, index })
      numberOfSteps++
      return { index, answer }
    } catch (error) {
      names.delete(asked.name)
      throw error
    }
  }

  const ask = (method: string, wire: StepBegin | StepEnd) => call(method, [wire]) as Promise<StepAnswer>

  async function take(asked: Asked, fn?: () => unknown): Promise<unknown> {
    const { name } = asked
    const answer = await working(async () => {
      const first = begun.then(() => begin(asked))
      begun = first.catch(() => {})
      const { index, ...taken } = await first
      let next = taken.answer
      while (next.is === 'run') {
        const end = await attempt(next, fn ?? (() => undefined))
        next = await ask('step.end', { index, name, attempt: next.attempt, ...end })
      }
      return next
    })
    if (answer.is === 'refused') {
      stopped.resolve({ is: 'refused', error: errorFromWire(answer.error) })
      return never()
    }
    if (answer.is === 'wait') {
      waiting++
      look()
      return never()
    }
    const ended = await inOrder(answer)
    if (ended.is === 'failed') throw errorFromWire(ended.error)
    return ended.result
  }

  function named(given: unknown): { name: string } {
    if (typeof given !== 'string' || given === '') throw new TypeError('A step needs a name')
    if (!isRepeated()) throw new Error(`The step "${given}" cannot begin inside of another`)
    if (names.has(given)) throw new Error(`There are two steps "${given}": names are unique in a run`)
    names.add(given)
    return { name: given }
  }

  const step: Step = {
    async do(given, ...rest) {
      const [options, fn] = rest.length > 1 ? (rest as [StepOptions, () => unknown]) : [{}, rest[0]]
      if (typeof fn !== 'function') throw new TypeError(`The step "${given}" needs a function`)
      return take({ ...named(given), kind: 'do', options }, fn)
    },
    sleep: async (given, ms) => take({ ...named(given), kind: 'sleep', ms }),
    sleepUntil: async (given, ts) =>
      take({ ...named(given), kind: 'sleepUntil', ts: ts instanceof Date ? ts.getTime() : ts }),
    waitForEvent: async (given, event) => take({ ...named(given), kind: 'waitForEvent', event }),
  }
  return {
    step,
    call: (method, args) => working(() => call(method, args)),
    world: { now: () => now, random: randomFrom(runId) },
    stopped: stopped.promise,
  }
}

const ORDER_CHANGED =
  'The order of steps has changed: what is done between steps must be the same each time the run is resumed'

async function within<T>(timeoutMs: number | undefined, work: () => Promise<T>): Promise<T> {
  if (timeoutMs === undefined) return work()
  const { promise, reject } = Promise.withResolvers<T>()
  const late = Object.assign(new Error(`took longer than ${timeoutMs} ms`), { name: 'TimeoutError' })
  const timer = setTimeout(() => reject(late), timeoutMs)
  try {
    return await Promise.race([work(), promise])
  } finally {
    clearTimeout(timer)
  }
}
