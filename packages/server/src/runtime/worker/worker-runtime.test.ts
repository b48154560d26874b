import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { useInSuite } from '../../testing/in-suite.ts'
import { startWorkerRuntime } from '../../testing/worker-runtime.ts'
import type { WireError } from '../ctx/errors.ts'
import type { StepAnswer, StepBegin, StepEnd } from '../ctx/steps.ts'

describe('a module in the worker runtime', () => {
  const worker = useInSuite((made) => startWorkerRuntime(made, { processesPerOrg: 1 }))
  const run: typeof worker.run = (...args) => worker.run(...args)

  it('is given its input and what was granted, and gives its output', async () => {
    const outcome = await run(
      `export default async (input, ctx) => ({
        input, run: ctx.run, keys: Object.keys(ctx), repo: Object.keys(ctx.repo), secrets: ctx.secrets,
        text: await ctx.repo.readText('README.md'), bytes: [...await ctx.repo.readBytes('logo')],
      })`,
      {
        input: { n: 1 },
        run: { id: 'run_a', trigger: 'push' },
        capabilities: ['repo:read', 'secret:TOKEN'],
        secrets: { TOKEN: 'shh' },
        call: async (method, args) => (method === 'repo.readBytes' ? 'AAEC' : `${method} ${args.join()}`),
      },
    )
    assert.deepEqual(outcome, {
      kind: 'returned',
      lines: [],
      output: {
        input: { n: 1 },
        run: { id: 'run_a', trigger: 'push' },
        keys: ['run', 'log', 'signal', 'secrets', 'repo'],
        repo: ['readText', 'readBytes', 'list', 'branches', 'tags', 'commits', 'compare'],
        secrets: { TOKEN: 'shh' },
        text: 'repo.readText README.md',
        bytes: [0, 1, 2],
      },
    })
    assert.deepEqual(await run('export default () => {}'), { kind: 'returned', lines: [] })
  })

  it('gets what the host refuses with its code and data, and of other failures nothing', async () => {
    const code = `export default (_, ctx) => ctx.records.get('task', '1').catch((e) => [e.name, e.message, e.code, e.data])`
    const refuse = (error: Error) =>
      run(code, { capabilities: ['records:read'], call: () => Promise.reject(error) })
    const told = await refuse(
      Object.assign(new Error('none'), { code: 'RECORD_NOT_FOUND', data: { id: '1' } }),
    )
    assert.deepEqual(told.kind === 'returned' && told.output, [
      'Error',
      'none',
      'RECORD_NOT_FOUND',
      { id: '1' },
    ])
    const failed = await refuse(Object.assign(new Error('no such table: task'), { code: 'ERR_SQLITE_ERROR' }))
    assert.doesNotMatch(JSON.stringify(failed), /table/)
  })

  it('fails with what it threw, told in the lines of its author', async () => {
    const sourceMap = JSON.stringify({
      version: 3,
      sources: ['extensions/e/index.ts'],
      names: [],
      mappings: ';AAMA',
    })
    const thrown = await run(`export default () => {\nthrow new RangeError('too far') }`, { sourceMap })
    assert.equal(thrown.kind, 'threw')
    assert.equal(thrown.kind === 'threw' && thrown.error, 'RangeError: too far')
    assert.match((thrown.kind === 'threw' && thrown.stack) || '', /\(extensions\/e\/index\.ts:7:1\)$/)
    const call = async (method: string, [wire]: readonly unknown[]): Promise<StepAnswer> =>
      method === 'step.begin'
        ? { is: 'run', attempt: 1 }
        : { is: 'failed', order: 1, at: 1, ...(wire as { error: WireError }) }
    const inStep = await run(
      `export default (_, { step }) => step.do('far', () => {\nthrow new RangeError('too far') })`,
      { sourceMap, call, workflow: { startedAt: 1 } },
    )
    assert.match(
      (inStep.kind === 'threw' && inStep.stack) || '',
      /^RangeError: too far\n +at extensions\/e\/index\.ts:7:1$/,
    )
    const logged = await run(`export default () => {\nconsole.error(new Error('logged')) }`, { sourceMap })
    assert.match(logged.lines[0]?.message ?? '', /^Error: logged\n.*index\.ts:7:1\)$/s)
  })

  it('fails when it cannot be loaded, has no function, or leaves alone what was thrown', async () => {
    const errors = []
    for (const code of [
      'export default (',
      'throw new URIError("top")',
      'export default 5',
      'export default () => { Promise.reject(new EvalError("left")); return 1 }',
      'export default async () => { setTimeout(() => { throw new EvalError("timer") }, 1); await scheduler.wait(60_000) }',
      'export default async () => { queueMicrotask(() => { throw new EvalError("task") }); await scheduler.wait(60_000) }',
      'export default () => { throw null }',
      'export default () => 10n',
    ]) {
      const outcome = await run(code)
      errors.push(outcome.kind === 'threw' ? outcome.error : outcome.kind)
    }
    assert.deepEqual(errors, [
      'SyntaxError: Unexpected end of input',
      'URIError: top',
      'TypeError: The default export of the module is not a function',
      'EvalError: left',
      'EvalError: timer',
      'EvalError: task',
      'Error: null',
      'TypeError: Do not know how to serialize a BigInt',
    ])
  })

  it('speaks in order, and to the log of its own run', async () => {
    const code = `export default async ({ name }, ctx) => {
      for (let i = 0; i < 3; i++) { console.log(name, i); await ctx.repo.tags() }
      console.warn('careful'); ctx.log('done', { name })
      if (name === 'b') Promise.reject(new Error('only b'))
    }`
    const { isolates } = worker.runtime
    const both = await Promise.all(
      ['a', 'b'].map((name) => run(code, { input: { name }, capabilities: ['repo:read'] })),
    )
    assert.deepEqual(
      both.map(({ kind, lines }) => [kind, lines.map(({ level, message }) => `${level} ${message}`)]),
      ['a', 'b'].map((name) => [
        name === 'a' ? 'returned' : 'threw',
        [`info ${name} 0`, `info ${name} 1`, `info ${name} 2`, 'warn careful', 'info done'],
      ]),
    )
    assert.equal(worker.runtime.isolates - isolates, 1)
  })

  it('finds its globals again, but nothing of another run, repository or grant', async () => {
    const code = `export default async (_, ctx) => {
      const before = globalThis.kept
      globalThis.kept = ctx
      return before ? [before.run.id, await before.repo.tags().catch((e) => e.message)] : 'first'
    }`
    const outputs = []
    for (const job of [
      { runId: 'run_x' },
      { runId: 'run_y' },
      { repoId: 'repo_2' },
      { capabilities: ['repo:read', 'events:emit'] },
    ]) {
      const outcome = await run(code, { capabilities: ['repo:read'], ...job })
      outputs.push(outcome.kind === 'returned' && outcome.output)
    }
    assert.deepEqual(outputs, ['first', ['run_x', 'RPC stub used after being disposed.'], 'first', 'first'])
  })

  it('is told to end when its time is over or it is cancelled, and cut off if it does not', async () => {
    const gentle = `export default (_, ctx) => new Promise((resolve) =>
      ctx.signal.addEventListener('abort', () => { console.log(ctx.signal.reason.message); resolve() }))`
    const late = await run(gentle, { timeoutMs: 200 })
    assert.deepEqual(late, {
      kind: 'ended',
      error: 'It took longer than 200 ms',
      lines: [{ level: 'info', message: 'It took longer than 200 ms' }],
    })
    const cancelling = new AbortController()
    const deaf = `export default async () => { console.log('here'); for (;;) await new Promise((r) => setTimeout(r, 5)) }`
    const cancelled = await run(deaf, { signal: cancelling.signal, onLine: () => cancelling.abort() })
    assert.equal(cancelled.kind === 'ended' && cancelled.error, 'It was cancelled')
    const before = await run(deaf, { signal: AbortSignal.abort() })
    assert.equal(before.kind, 'not begun')
  })

  it('asks for what is not to be redirected', async () => {
    const asked = await run(
      `export default async (_, { fetch }) => (await fetch('https://a.example/', { redirect: 'error' })).status`,
      {
        capabilities: ['net:a.example'],
        call: async (_method, [wire]) => ({
          status: (wire as { redirect: string }).redirect === 'error' ? 200 : 500,
          ...{ statusText: '', headers: [], url: 'https://a.example/', redirected: false },
        }),
      },
    )
    assert.deepEqual(asked.kind === 'returned' && asked.output, 200)
  })

  it('has bounds on what goes in, comes out, and is said', async () => {
    const long = await run('export default (input) => input.text.length', {
      input: { text: 'x'.repeat(10_000) },
    })
    assert.match(long.kind === 'ended' ? long.error : '', /^The input is larger than 10000/)
    const large = await run('export default () => "x".repeat(10_000)')
    assert.match(large.kind === 'ended' ? large.error : '', /^The output is larger than 10000/)
    // As large as its memory, so that there is none left to write it down.
    const larger = await run('export default () => "x".repeat(120e6)')
    assert.match(larger.kind === 'ended' ? larger.error : '', /^The output is larger than 10000/)
    const flood = await run('export default () => { for (let i = 0; i < 1e5; i++) console.log("line", i) }')
    assert.equal(flood.kind, 'returned')
    assert.equal(flood.lines.length, 21)
    assert.match(flood.lines.at(-1)?.message ?? '', /^The log ends here/)
    const calls = await run(
      `export default (_, ctx) => ctx.repo.list('x'.repeat(2e5)).catch((e) => e.message)`,
      { capabilities: ['repo:read'] },
    )
    assert.match(String(calls.kind === 'returned' && calls.output), /no more than 100000 characters/)
  })

  it('says nothing of a secret in which it is cut off', async () => {
    const secrets = { TOKEN: '0123456789abcdef' }
    const capabilities = ['secret:TOKEN']
    const code = (length: number) => `export default (_, { log, secrets: { TOKEN } }) => {
      console.log('x'.repeat(475) + TOKEN + 'x'.repeat(100))
      log('data', { a: 'x'.repeat(470) + TOKEN + 'x'.repeat(100) })
      throw new Error('x'.repeat(${length}) + TOKEN)
    }`
    const failed = await run(code(3_985), { secrets, capabilities })
    assert.ok(failed.kind === 'threw' && failed.lines.length === 2)
    assert.match(failed.error, /^Error: x+\*\*\*$/)
    assert.ok(!JSON.stringify(failed.lines).includes('012'), JSON.stringify(failed.lines))
    const long = await run(code(15_985), { secrets, capabilities })
    assert.match(String(long.kind === 'threw' && long.stack), /^Error: x+\*\*\*$/)
  })

  it('is a workflow when it is to be one: suspended, and resumed with its own time', async () => {
    const code = `export default async (_, { step }) => {
      const first = await step.do('first', () => 'done')
      const [before, chance] = [Date.now(), Math.random()]
      await step.sleep('rest', 1e9)
      return { first, before, after: new Date().getTime(), chance }
    }`
    const journal: Record<string, StepAnswer> = {}
    const call = async (method: string, [wire]: readonly unknown[]): Promise<StepAnswer> => {
      const { name } = wire as StepBegin
      if (method === 'step.end')
        journal[name] = {
          is: 'done',
          order: 1,
          at: 2_000,
          result: (wire as StepEnd & { result: string }).result,
        }
      return journal[name] ?? (name === 'rest' ? { is: 'wait' } : { is: 'run', attempt: 1 })
    }
    const stretch = () => run(code, { runId: 'run_w', workflow: { startedAt: 1_000 }, call })
    assert.deepEqual(await stretch(), { kind: 'suspended', lines: [] })
    journal.rest = { is: 'done', order: 2, at: 3_000 }
    const [one, two] = [await stretch(), await stretch()]
    assert.deepEqual(one, two)
    const { chance, ...rest } = (one.kind === 'returned' && one.output) as Record<string, unknown>
    assert.deepEqual(rest, { first: 'done', before: 2_000, after: 3_000 })
    assert.equal(typeof chance, 'number')
  })

  it('has its time anew with each step of a workflow, and in a step what that was given', async () => {
    const wait = 'new Promise((r) => setTimeout(r, 400))'
    const code = `export default async (_, { step }) => {
      for (const name of ['a', 'b', 'c']) await step.do(name, () => ${wait})
      await ${wait}
      return 'in time'
    }`
    let order = 0
    const call = async (method: string): Promise<StepAnswer> =>
      method === 'step.begin' ? { is: 'run', attempt: 1 } : { is: 'done', order: ++order, at: order }
    const slow = await run(code, { workflow: { startedAt: 0 }, timeoutMs: 900, call })
    assert.equal(slow.kind === 'returned' && slow.output, 'in time')
  })
})
