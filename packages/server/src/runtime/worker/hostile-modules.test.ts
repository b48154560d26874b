import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { useInSuite } from '../../testing/in-suite.ts'
import { startWorkerRuntime } from '../../testing/worker-runtime.ts'

const FINE = 'export default () => "fine"'

describe('a module that means harm', () => {
  const worker = useInSuite((made) => startWorkerRuntime(made, { processesPerOrg: 1 }))
  const run: typeof worker.run = (...args) => worker.run(...args)
  // Of an organization each: others go before one that had a process ended.
  let orgs = 0
  const runAlone: typeof run = (code, options) => run(code, { orgId: `org_of_${++orgs}`, ...options })
  const output = async (...args: Parameters<typeof run>) => {
    const outcome = await run(...args)
    return outcome.kind === 'returned' ? outcome.output : outcome
  }

  it('reaches nothing but what is on ctx', async () => {
    const tried = await output(`export default async () => {
      const refused = {}
      const attempt = async (name, fn) => { try { refused[name] = 'DONE ' + await fn() } catch (e) { refused[name] = e.message } }
      await attempt('fetch', () => fetch('http://127.0.0.1:1/'))
      await attempt('socket', async () => { const { connect } = await import('cloudflare:sockets'); await connect('127.0.0.1:1').opened })
      await attempt('web socket', () => new Promise((_, reject) => { new WebSocket('ws://127.0.0.1:1').onerror = (e) => reject(e.error ?? e) }))
      await attempt('cache', () => caches.default.match('http://x/'))
      await attempt('eval', () => (0, eval)('1 + 1'))
      await attempt('function', () => new Function('return 1')())
      await attempt('wasm', () => WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])))
      for (const name of ['fs', 'net', 'child_process', 'os', 'vm', 'worker_threads', 'module'])
        await attempt(name, () => import('node:' + name))
      for (const name of ['workerd:unsafe', 'cloudflare-internal:workers', 'node-internal:process', './porter.js', '../x.js'])
        await attempt(name, () => import(name))
      const { env } = await import('cloudflare:workers')
      const { default: shim } = await import('node:process')
      return { refused, found: [Object.keys(env), Object.keys(shim.env), typeof process, typeof require, typeof Buffer] }
    }`)
    const { refused, found } = tried as { refused: Record<string, string>; found: unknown }
    assert.deepEqual(found, [[], [], 'undefined', 'undefined', 'undefined'])
    assert.equal(Object.keys(refused).length, 19)
    for (const [name, error] of Object.entries(refused))
      assert.match(
        error,
        /not permitted|No such module|No Cache|disallowed|not a supported/,
        `${name}: ${error}`,
      )
  })

  it('loops for ever, wherever it does, and ends with its time; what it said is known', {
    timeout: 300_000,
  }, async () => {
    for (const code of [
      'export default () => { console.log("before"); for (;;); }',
      'export default async () => { console.log("before"); for (;;) await null }',
      'export default () => { console.log("before"); return /^(a+)+$/.test("a".repeat(60) + "b") }',
      'console.log("before"); for (;;); export default () => {}',
    ])
      assert.deepEqual(await runAlone(code, { timeoutMs: 200 }), {
        kind: 'ended',
        error: 'It took longer than 200 ms',
        lines: [{ level: 'info', message: 'before' }],
      })
    assert.equal(await output(FINE), 'fine')
    assert.equal(worker.runtime.counts.killed, 4)
  })

  it('waits for ever, and ends at once when nothing could come of it', async () => {
    const never = await run('export default () => new Promise(() => {})')
    assert.equal(never.kind === 'ended' && never.error, 'It waits for something that can never happen')
    const timers = await run('export default () => new Promise(() => setInterval(() => {}, 1))', {
      timeoutMs: 100,
    })
    assert.equal(timers.kind === 'ended' && timers.error, 'It took longer than 100 ms')
  })

  it('takes all memory it can get, and is stopped', { timeout: 300_000 }, async () => {
    const buffers = await runAlone(
      'export default () => { const all = []; for (;;) all.push(new Uint8Array(2 ** 24).fill(1)) }',
    )
    assert.match(
      buffers.kind === 'returned' || !('error' in buffers) ? '' : buffers.error,
      /allocation failed|more than 64 MB/,
    )
    const heap = await runAlone('export default () => { const all = []; for (;;) all.push([1, 2, 3]) }')
    assert.equal(heap.kind === 'ended' && heap.error, 'It used more than 64 MB of memory')
    assert.equal(await output(FINE), 'fine')
  })

  it('leaves memory behind, which is not held against the next', async () => {
    const filling = (count: number) =>
      `const all = []; export default async () => {
        for (let i = 0; i < ${count}; i++) all.push(new Uint8Array(2 ** 24).fill(1))
        await new Promise((done) => setTimeout(done, 300))
        return all.length
      }`
    assert.equal(await output(filling(6)), 6)
    assert.equal(await output(filling(4)), 4)
  })

  it('plays with what its wrapper stands on, and hurts itself alone', async () => {
    for (const code of [
      `Object.prototype.toJSON = () => ({ forged: true }); export default () => 1`,
      `JSON.stringify = () => '\\nended x\\nbegun y'; JSON.parse = () => null; export default () => { console.log('x'); return 1 }`,
      `Promise.prototype.then = () => { throw 1 }; export default async () => 1`,
      `Object.defineProperty(Object.prototype, 'then', { get() { return (r) => r('then') } }); export default () => 1`,
      `const { default: W } = await import('./wrapper.js'); W.prototype.perform = () => ({ rpc: () => {} }); export default () => 1`,
      `const { default: W } = await import('./wrapper.js'); W.prototype.perform = () => '{"kind":"suspended"}'; export default () => 1`,
      `import { exports } from 'cloudflare:workers'; export default (input) => input.again ? exports.default.perform('{"input":{"again":true},"log":{}}') : 1`,
      `import { exports } from 'cloudflare:workers'; export default () => exports.default.perform('{"capabilities":["repo:read"],"log":{}}', () => 1, () => 1)`,
      `import { abortIsolate } from 'cloudflare:workers'; export default () => { abortIsolate('gone'); return 1 }`,
      `Array.prototype.map = Array.prototype.push = Map.prototype.get = () => { throw new Error('no') }; export default () => { console.log('x'); return 1 }`,
    ])
      for (const _ of [1, 2]) {
        const { kind } = await run(code, { capabilities: ['repo:read'], timeoutMs: 2_000 })
        assert.ok(['returned', 'threw', 'ended'].includes(kind), `${kind}: ${code}`)
      }
    assert.equal(await output(FINE), 'fine')
  })

  it('asks for what was not granted past its ctx, and is refused', async () => {
    const asked: string[] = []
    const code = `
      const { default: W } = await import('./wrapper.js')
      const { perform } = W.prototype
      let stub
      W.prototype.perform = function (order, call, aborted) { stub = call.dup?.() ?? call; return perform.call(this, order, call, aborted) }
      export default async (_, ctx) => {
        if (!stub) return 'first'
        const ask = (text) => stub(text).catch((e) => e.message)
        globalThis.kept ??= stub.dup()
        return [await ask('["repo.commit",[]]'), await ask('["step.begin",[{}]]'), await ask({}), await ask('nonsense')]
      }`
    const job = {
      capabilities: ['repo:read'],
      call: async (method: string) => {
        asked.push(method)
      },
    }
    await output(code, job)
    const answers = (await output(code, job)) as string[]
    assert.match(answers[0] ?? '', /repo\.commit was not granted/)
    assert.match(answers[1] ?? '', /step\.begin was not granted/)
    assert.match(answers[2] ?? '', /A call is made of text/)
    assert.deepEqual(asked, [])
  })

  it('keeps for its next run what its wrapper was handed, and is told that it has ended', async () => {
    const asked: string[] = []
    const code = `
      const { default: W } = await import('./wrapper.js')
      const { perform } = W.prototype
      let kept
      W.prototype.perform = function (order, call, aborted) {
        if (kept) kept.runs++
        kept ??= { call: call.dup(), runs: 0 }
        return perform.call(this, order, call, aborted)
      }
      export default async () => {
        if (!kept?.runs) return 'first'
        return await kept.call('["repo.tags",[]]').then(() => 'DONE', (e) => e.message)
      }`
    const call = async (method: string) => {
      asked.push(method)
    }
    let told = 'first'
    for (let turn = 0; told === 'first' && turn < 20; turn++)
      told = String(await output(code, { capabilities: ['repo:read'], call }))
    assert.match(told, /different request|disposed|has ended/)
    assert.deepEqual(asked, [])
  })

  it('keeps what it was handed, and leaves work behind, for nothing', async () => {
    const asked: string[] = []
    const call = async (method: string) => {
      asked.push(method)
    }
    const code = `import { waitUntil } from 'cloudflare:workers'
      export default (_, ctx) => {
        waitUntil((async () => { for (;;) { await new Promise((r) => setTimeout(r, 1)); await ctx.repo.tags().catch(() => {}); console.log('late') } })())
        setTimeout(() => ctx.repo.tags(), 1)
      }`
    const left = await run(code, { capabilities: ['repo:read'], call })
    assert.equal(left.kind, 'returned')
    // What came before its end was its right.
    const before = [asked.length, left.lines.length]
    for (let turn = 0; turn < 3; turn++) assert.equal(await output(FINE), 'fine')
    assert.deepEqual([asked.length, left.lines.length], before)
  })

  it('leaves a loop behind, which ends with its process, and takes no run with it', async () => {
    const left = await run(`import { waitUntil } from 'cloudflare:workers'
      export default () => waitUntil(new Promise((r) => setTimeout(r, 1)).then(() => { for (;;); }))`)
    assert.equal(left.kind, 'returned')
    const kinds = []
    while (kinds.at(-1) !== 'returned') kinds.push((await run(FINE)).kind)
    assert.deepEqual(new Set(kinds.slice(0, -1)).difference(new Set(['not begun'])), new Set())
  })

  it('sets ten thousand timers, asks a thousand things at once, gives too much', async () => {
    const timers = await run(
      'export default () => { for (let i = 0; i < 1e4; i++) setTimeout(() => {}, 1e6) }',
    )
    assert.equal(timers.kind, 'returned')
    let atOnce = 0
    let most = 0
    const calls = await output(
      'export default async (_, ctx) => (await Promise.all(Array.from({ length: 900 }, () => ctx.repo.tags()))).length',
      {
        capabilities: ['repo:read'],
        call: async () => {
          most = Math.max(most, ++atOnce)
          await new Promise((resolve) => setImmediate(resolve))
          atOnce--
        },
      },
    )
    assert.equal(calls, 900)
    assert.ok(most <= 16, `${most} at once`)
    const huge = await run('export default () => "x".repeat(4e7)', { timeoutMs: 10_000 })
    assert.equal(huge.kind, 'ended')
    const deep = await run(
      'export default () => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o }',
    )
    assert.equal(deep.kind, 'ended')
  })
})
