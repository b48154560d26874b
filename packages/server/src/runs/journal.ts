import { setTimeout as sleep } from 'node:timers/promises'
import type { Subscription } from '@trellis/contract'
import * as z from 'zod'
import type { Hold } from '../background/leased.ts'
import { subscriptionIssues } from '../events/subscriptions.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { Blank } from '../runtime/ctx/blanking.ts'
import { MESSAGE_CHARACTERS, STACK_CHARACTERS } from '../runtime/ctx/errors.ts'
import type { Database, Tx } from '../schema.ts'
import { bytesOfStep } from './kept-bytes.ts'
import { TooMuchKept } from './kept-room.ts'
import { shownAsked, shownError } from './shown-steps.ts'
import * as steps from './step-store.ts'
import * as store from './store.ts'
import type { Transitions } from './transitions.ts'
import * as triggers from './trigger-store.ts'

const YEARS_MS = 10 * 366 * 86_400_000
const Index = z.int().min(0)
const Name = z.string().min(1).max(200)
const Ms = z.number().min(0).max(YEARS_MS)
/** An attempt has a place among all that run meanwhile; to wait for long is what sleeping is for. */
const LONGEST_ATTEMPT_MS = 600_000

/** Of a type of events, or a pattern of them. */
const CAN_BE = /^[a-z0-9.*?[\]{}!,-]+$/

const Begin = z.intersection(
  z.object({ index: Index, name: Name }),
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('do'),
      options: z.strictObject({
        retries: z.int().min(0).max(100).optional(),
        delayMs: Ms.optional(),
        backoff: z.enum(['constant', 'exponential']).optional(),
        timeoutMs: Ms.min(1).max(LONGEST_ATTEMPT_MS).optional(),
      }),
    }),
    z.object({ kind: z.literal('sleep'), ms: Ms }),
    z.object({ kind: z.literal('sleepUntil'), ts: z.number() }),
    z.object({
      kind: z.literal('waitForEvent'),
      event: z.strictObject({
        type: z.string().min(1).max(128).regex(CAN_BE, 'There are no events of such a type'),
        subject: z.string().min(1).max(256).optional(),
        timeoutMs: Ms.optional(),
      }),
    }),
  ]),
)
type Begin = z.infer<typeof Begin>
type Wait = Extract<Begin, { kind: 'waitForEvent' }>

const WireError = z.object({
  name: z.string().optional(),
  message: z.string(),
  code: z.string().optional(),
  data: z.unknown().optional(),
  stack: z.string().optional(),
})
type WireError = z.infer<typeof WireError>

const End = z.object({
  index: Index,
  name: Name,
  attempt: z.int(),
  result: z.unknown().optional(),
  error: WireError.optional(),
})

/** As the runtime understands it. */
type Answer =
  | { is: 'done'; order: number; at: number; result?: unknown }
  | { is: 'failed'; order: number; at: number; error: WireError }
  | { is: 'run'; attempt: number; timeoutMs?: number }
  | { is: 'wait' }
  | { is: 'refused'; error: WireError }

export const MAX_STEPS = 1_000
/** Of one repository: every change of it asks each of them. */
export const MAX_WAITS = 1_000
export const MAX_RESULT_BYTES = 256 * 1024
export const MAX_TOTAL_BYTES = 8 * 1024 * 1024
/** A delay that is not worth giving the run out of hand. */
const SHORT_MS = 1_000
/** How often a step may be begun again because the server stopped over it. */
const MAX_INTERRUPTIONS = 3

const CHANGED =
  'The order of steps has changed: what is done between steps must be the same each time the run is resumed'

export type Journals = ReturnType<typeof createJournals>

/**
 * What the steps of workflows have come to. A run that is resumed begins all of its steps anew, and is answered from
 * here: each is done once, as far as anybody knows, and what it gave is what it gives from then on.
 */
export function createJournals({
  database,
  clock,
  transitions,
}: {
  database: Database
  clock: Clock
  transitions: Pick<Transitions, 'growIn'>
}) {
  return {
    /** For one stretch of a run. */
    openFor(run: store.RunRow, hold: Hold, blank: Blank) {
      let rows: Promise<Map<number, steps.StepRow>> | undefined
      let finishing: Promise<unknown> = Promise.resolve()
      const read = async () =>
        new Map((await steps.listSteps(database.db, run.id)).map((row) => [row.step, row]))
      const known = () => {
        rows ??= read()
        return rows
      }

      /** As long as the transaction lasts. What it has grown by is counted with it. */
      async function isOursIn(tx: Tx, grownBy: number): Promise<boolean> {
        const { id } = run
        const { workerId } = hold
        if (grownBy > 0) return store.growHeld(tx, { id, workerId, grownBy })
        return (await store.listHeld(tx, database.dialect, { ids: [id], workerId })).has(id)
      }

      /** Only as long as the run is ours: somebody else may have resumed it. */
      async function keep(row: steps.StepRow, wait?: Wait): Promise<void> {
        const before = (await known()).get(row.step)
        const grownBy = bytesOfStep(row) - (before ? bytesOfStep(before) : 0)
        await database.transact(async (tx) => {
          if (!(await isOursIn(tx, grownBy))) throw new Error('The run is in other hands')
          await steps.putStep(tx, row)
          const where = { repoId: run.repo_id, runId: run.id, step: row.step }
          if (row.kind === 'waitForEvent' && row.state !== 'waiting') await triggers.deleteWaits(tx, where)
          if (wait) await triggers.insertTrigger(tx, waitOf(run, row.step, wait))
          if (grownBy > 0) await transitions.growIn(tx, run, grownBy)
        })
        ;(await known()).set(row.step, row)
      }

      /** One after the other, because each takes the place after the last. */
      function finish(row: steps.StepRow, end: { result?: unknown } | { error: WireError }): Promise<Answer> {
        const finished = finishing.then(() => finishNow(row, end))
        finishing = finished.catch(() => {})
        return finished
      }

      async function finishNow(
        row: steps.StepRow,
        end: { result?: unknown } | { error: WireError },
      ): Promise<Answer> {
        const all = await known()
        const place = 1 + Math.max(0, ...[...all.values()].map((one) => one.place ?? 0))
        const ended_at = clock()
        const error =
          'error' in end ? JSON.stringify({ ...shownError(end.error, blank), ...end.error }) : null
        const result = 'error' in end || end.result === undefined ? null : JSON.stringify(end.result)
        const done = {
          ...row,
          state: error ? ('failed' as const) : ('done' as const),
          place,
          ended_at,
          error,
          result,
        }
        await keep(done)
        return answerOf(done)
      }

      async function begin(asked: Begin): Promise<Answer> {
        const all = await known()
        const row = all.get(asked.index)
        if (row) return row.name === asked.name && row.kind === asked.kind ? again(row) : refused(CHANGED)
        if (asked.index !== all.size || [...all.values()].some(({ name }) => name === asked.name))
          return refused(CHANGED)
        if (
          asked.kind === 'waitForEvent' &&
          (await triggers.countWaits(database.db, run.repo_id)) >= MAX_WAITS
        )
          return refused(`Workflows of a repository may wait for ${MAX_WAITS} events at once`)
        const [issue] = asked.kind === 'waitForEvent' ? subscriptionIssues(subscriptionOf(asked), []) : []
        if (issue) return refused(`The step "${asked.name}" cannot wait for this: ${issue.message}`)
        if (all.size >= MAX_STEPS) return refused(`A run may have ${MAX_STEPS} steps`)
        const { index, name, kind } = asked
        const fresh: steps.StepRow = {
          run_id: run.id,
          step: index,
          name,
          kind,
          state: kind === 'do' ? 'running' : 'waiting',
          attempt: 1,
          begun_at: clock(),
          due_at: dueOf(asked, clock()),
          place: null,
          ended_at: null,
          asked: JSON.stringify({ ...asked, ...shownAsked(asked, blank) }),
          arrived: null,
          result: null,
          error: null,
        }
        await keep(fresh, asked.kind === 'waitForEvent' ? asked : undefined)
        return asked.kind === 'do' ? runIt(asked, 1) : again(fresh)
      }

      /** A step that was begun before. */
      async function again(row: steps.StepRow): Promise<Answer> {
        if (row.state === 'done' || row.state === 'failed') return answerOf(row)
        const asked = JSON.parse(row.asked) as Begin
        if (asked.kind === 'do') {
          if (row.state === 'waiting' && !isDue(row)) return { is: 'wait' }
          const attempt = row.attempt + 1
          const most = 1 + (asked.options.retries ?? 0) + MAX_INTERRUPTIONS
          if (row.state === 'running' && attempt > most)
            return finish(row, { error: { message: 'The server stopped over this step again and again' } })
          await keep({ ...row, state: 'running', attempt, due_at: null })
          return runIt(asked, attempt)
        }
        if (asked.kind === 'waitForEvent') {
          const arrived = (await steps.findArrived(database.db, run.id, row.step))?.arrived
          if (arrived) return finish({ ...row, arrived }, { result: JSON.parse(arrived) })
          return isDue(row) ? finish(row, { result: null }) : { is: 'wait' }
        }
        return isDue(row) ? finish(row, {}) : { is: 'wait' }
      }

      /** As the module told it, but for a secret in which it was cut off. */
      const whole = ({ stack, ...error }: WireError): WireError => ({
        ...error,
        message: blank.cut(error.message, MESSAGE_CHARACTERS),
        ...(stack !== undefined && { stack: blank.cut(stack, STACK_CHARACTERS) }),
      })

      const isDue = ({ due_at }: steps.StepRow) => due_at !== null && due_at <= clock()

      async function end(told: z.infer<typeof End>, signal: AbortSignal): Promise<Answer> {
        const all = await known()
        const row = all.get(told.index)
        if (row?.state !== 'running' || row.name !== told.name || row.attempt !== told.attempt)
          return refused(CHANGED)
        const { options } = JSON.parse(row.asked) as Extract<Begin, { kind: 'do' }>
        const problem = (told.error && whole(told.error)) ?? tooLarge(told.result, all)
        if (!problem) return finish(row, { result: told.result })
        const { retries = 0, delayMs = 0, backoff } = options
        if (row.attempt > retries) return finish(row, { error: problem })
        const delay = Math.min(
          YEARS_MS,
          backoff === 'exponential' ? delayMs * 2 ** (row.attempt - 1) : delayMs,
        )
        if (delay > SHORT_MS) {
          await keep({ ...row, state: 'waiting', due_at: clock() + delay })
          return { is: 'wait' }
        }
        await sleep(delay, undefined, { signal })
        const attempt = row.attempt + 1
        await keep({ ...row, attempt })
        return runIt({ options }, attempt)
      }

      return {
        /** `step.begin` and `step.end`. */
        async call(method: string, [argument]: readonly unknown[], signal: AbortSignal): Promise<Answer> {
          try {
            if (method === 'step.begin') return await begin(parse(Begin, argument))
            if (method === 'step.end') return await end(parse(End, argument), signal)
          } catch (error) {
            if (error instanceof TooMuchKept) return refused(error.message)
            throw error
          }
          throw new Fault('BAD_REQUEST', { issues: [{ message: `There is no ${method} on ctx` }] })
        },
      }
    },
  }
}

const refused = (message: string): Answer => ({ is: 'refused', error: { message } })

const runIt = (
  { options: { timeoutMs } }: Pick<Extract<Begin, { kind: 'do' }>, 'options'>,
  attempt: number,
): Answer => ({
  is: 'run',
  attempt,
  ...(timeoutMs !== undefined && { timeoutMs }),
})

function answerOf(row: steps.StepRow): Answer {
  const ended = { order: row.place ?? 0, at: row.ended_at ?? 0 }
  if (row.error !== null) {
    const { shown: _, ...error } = JSON.parse(row.error) as WireError & { shown?: string }
    return { is: 'failed', ...ended, error }
  }
  return { is: 'done', ...ended, ...(row.result !== null && { result: JSON.parse(row.result) }) }
}

function dueOf(asked: Begin, now: number): number | null {
  switch (asked.kind) {
    case 'do':
      return null
    case 'sleep':
      return now + asked.ms
    case 'sleepUntil':
      return Math.min(asked.ts, now + YEARS_MS)
    case 'waitForEvent':
      return asked.event.timeoutMs === undefined ? null : now + asked.event.timeoutMs
  }
}

const subscriptionOf = ({ event: { type, subject } }: Wait): Subscription => ({
  event: { types: [type], ...(subject !== undefined && { subject }) },
})

const waitOf = (run: store.RunRow, step: number, wait: Wait): triggers.TriggerRow => ({
  repo_id: run.repo_id,
  extension: run.extension,
  run_id: run.id,
  step,
  on_push: null,
  on_event: JSON.stringify(subscriptionOf(wait)),
  record_name: null,
  on_create: 0,
  on_transition: 0,
})

function tooLarge(result: unknown, all: ReadonlyMap<number, steps.StepRow>): WireError | undefined {
  const bytes = result === undefined ? 0 : JSON.stringify(result).length
  if (bytes > MAX_RESULT_BYTES)
    return { message: `What a step gives has up to ${MAX_RESULT_BYTES} characters of JSON` }
  const total = [...all.values()].reduce((sum, row) => sum + (row.result?.length ?? 0), bytes)
  if (total > MAX_TOTAL_BYTES)
    return { message: `All steps of a run give up to ${MAX_TOTAL_BYTES} characters of JSON` }
  return undefined
}

function parse<T extends z.ZodType>(schema: T, given: unknown): z.infer<T> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => ({
    path: path.map((key) => (typeof key === 'number' ? key : String(key))),
    message,
  }))
  throw new Fault('BAD_REQUEST', { issues })
}
