import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { errorFromWire, type WireError } from './errors.ts'
import { type Part, perform } from './perform.ts'
import { makeTimeRepeatable } from './repeatable.ts'
import type { Step, StepAnswer, StepBegin, StepEnd } from './steps.ts'

const { Date: realDate } = globalThis
const { random } = Math
before(makeTimeRepeatable)
after(() => {
  Object.assign(globalThis, { Date: realDate })
  Math.random = random
})

type Reader = Record<string, () => Promise<unknown>>
type Module = (step: Step, ctx: { repo?: Reader }) => unknown

/** A host that keeps a journal as the protocol says, with retries and without a clock. */
function journal() {
  const begun: string[] = []
  const ended = new Map<string, StepAnswer>()
  const awake = new Set<string>()
  let order = 0
  const end = (name: string, how: { result?: unknown } | { error: WireError }): StepAnswer => {
    const at = { order: ++order, at: 1_000 + order }
    const answer: StepAnswer =
      'error' in how ? { is: 'failed', ...at, ...how } : { is: 'done', ...at, ...how }
    ended.set(name, answer)
    return answer
  }
  async function call(method: string, [wire]: readonly unknown[]): Promise<unknown> {
    if (method === 'step.end') {
      const { name, attempt, ...how } = wire as StepEnd
      if ('error' in how && attempt <= 2) return { is: 'run', attempt: attempt + 1, timeoutMs: 20 }
      return end(name, how)
    }
    if (method !== 'step.begin') return null
    const { index, name, kind } = wire as StepBegin
    begun[index] ??= name
    if (begun[index] !== name) throw errorFromWire({ message: 'tests never get here' })
    const known = ended.get(name)
    if (known) return known
    if (kind === 'do') return { is: 'run', attempt: 1, timeoutMs: 20 }
    return awake.has(name) ? end(name, {}) : { is: 'wait' }
  }
  return { call, wake: (name: string) => awake.add(name), begun, ended }
}

function stretch(call: Part['call'], module: Module) {
  return perform({
    call,
    input: undefined,
    runId: 'run_1',
    startedAt: 1_000,
    log: () => {},
    capabilities: ['repo:read'],
    run: {},
    secrets: {},
    signal: new AbortController().signal,
    outputCharacters: 1_000,
    load: async () => ({
      default: (_input: unknown, ctx: { step: Step; repo?: Reader }) => module(ctx.step, ctx),
    }),
    unhandled: new Promise(() => {}),
    settled: async () => {},
  })
}

describe('a workflow', () => {
  it('does a step once, sleeps, and goes on with the same time and chance', async () => {
    const { call, wake } = journal()
    const seen: unknown[] = []
    let done = 0
    const module: Module = async (step) => {
      const outside = [Date.now(), Date.parse(new Date().toISOString()), Math.random()]
      const first = await step.do('first', () => ({ done: ++done, real: Date.now() > 1e12 }))
      outside.push(Date.now(), Math.random())
      await step.sleep('rest', 1e9)
      seen.push(outside)
      return first
    }
    assert.deepEqual(await stretch(call, module), { kind: 'suspended' })
    assert.deepEqual(await stretch(call, module), { kind: 'suspended' })
    wake('rest')
    assert.deepEqual(await stretch(call, module), { kind: 'returned', output: '{"done":1,"real":true}' })
    assert.deepEqual(await stretch(call, module), { kind: 'returned', output: '{"done":1,"real":true}' })
    const [one, two] = seen as number[][]
    assert.deepEqual(one, two)
    assert.deepEqual([one?.[0], one?.[1], one?.[3]], [1_000, 1_000, 1_001])
    assert.notEqual(one?.[2], one?.[4])
  })

  it('tries again as the host says, and fails with what failed', async () => {
    const { call, ended } = journal()
    const attempts: number[] = []
    const module: Module = async (step) => {
      await step.do('late', { timeoutMs: 20 }, () =>
        attempts.push(1) === 3 ? 'in time' : new Promise(() => {}),
      )
      await step.do('never', () => Promise.reject(Object.assign(new RangeError('no'), { code: 'X' })))
    }
    const outcome = await stretch(call, module)
    assert.equal(outcome.kind === 'threw' && outcome.error, 'RangeError: no')
    assert.equal(attempts.length, 3)
    const never = ended.get('never')
    assert.ok(never?.is === 'failed' && outcome.kind === 'threw')
    const { stack, ...error } = never.error
    assert.deepEqual(error, { name: 'RangeError', message: 'no', code: 'X' })
    assert.match(stack ?? '', /^RangeError: no\n.*steps\.test\.ts/s)
    assert.equal(outcome.stack, stack)
  })

  it('hears of steps beside each other in the order they ended, each time', async () => {
    const { call, begun } = journal()
    const orders: string[][] = []
    const module: Module = async (step) => {
      const heard: string[] = []
      orders.push(heard)
      const quickWentOn = Promise.withResolvers<void>()
      const branch = async (name: string, work: () => unknown) => {
        await step.do(name, work)
        heard.push(`${name} ${Date.now()}`)
        await step.do(`${name} again`, quickWentOn.resolve)
      }
      await Promise.all([branch('slow', () => quickWentOn.promise), branch('quick', () => {})])
    }
    assert.equal((await stretch(call, module)).kind, 'returned')
    assert.equal((await stretch(call, module)).kind, 'returned')
    assert.deepEqual(orders[0], orders[1])
    assert.deepEqual(begun, ['slow', 'quick', 'quick again', 'slow again'])
  })

  it('is suspended when all it does is wait, not before', async () => {
    const { call, ended } = journal()
    const slowly: Part['call'] = async (method, args) => {
      if (method === 'repo.branches') await new Promise((resolve) => setTimeout(resolve, 60))
      return call(method, args)
    }
    const module: Module = (step, ctx) =>
      Promise.all([step.sleep('rest', 1e9), ctx.repo?.branches?.().then(() => step.do('work', () => 1))])
    assert.deepEqual(await stretch(slowly, module), { kind: 'suspended' })
    assert.deepEqual([...ended.keys()], ['work'])
  })

  it('refuses names that are taken, steps in steps, and results that are no JSON', async () => {
    const run = async (module: Module) => {
      const outcome = await stretch(journal().call, module)
      return outcome.kind === 'threw' ? outcome.error : outcome.kind
    }
    const twice = await run((step) => Promise.all([step.do('a', () => 1), step.do('a', () => 2)]))
    assert.match(twice, /There are two steps "a"/)
    assert.match(await run((step) => step.do('a', () => step.do('b', () => 1))), /cannot begin inside/)
    assert.match(await run((step) => step.do('a', () => 10n)), /BigInt/)
  })

  it('goes on without a step that the host does not take', async () => {
    const { call, begun } = journal()
    const strict: Part['call'] = async (method, args) => {
      const { name, kind, ...asked } = args[0] as StepBegin & { ts?: number }
      if (name.length > 200) throw errorFromWire({ message: 'Too long', code: 'BAD_REQUEST' })
      if (kind === 'sleepUntil') assert.equal(asked.ts, 5_000)
      return call(method, args)
    }
    const module: Module = async (step) => {
      const refused = await step.do('x'.repeat(300), () => 1).catch(({ code }) => code)
      await step.do('next', () => 2)
      await step.sleepUntil('then', new Date(5_000))
      return refused
    }
    assert.deepEqual(await stretch(strict, module), { kind: 'suspended' })
    assert.deepEqual(begun, ['next', 'then'])
  })

  it('ends with what the host refuses, whatever the module does about it', async () => {
    const refused: StepAnswer = { is: 'refused', error: { name: 'Error', message: 'The order has changed' } }
    const outcome = await stretch(
      async () => refused,
      (step) => step.do('a', () => 1).catch(() => 'caught'),
    )
    assert.deepEqual(outcome, { kind: 'threw', error: 'Error: The order has changed' })
  })
})
