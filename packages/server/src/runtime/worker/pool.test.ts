import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { startWorkerRuntime } from '../../testing/worker-runtime.ts'

const FINE = 'export default () => "fine"'
const LOOP = 'export default () => { for (;;); }'
/** Begins, and goes on when it is answered. */
const ASKS = 'export default (_, ctx) => ctx.repo.tags()'

/** Resolves the call when told to. */
function held() {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<string>()
  const call = () => {
    asked.resolve()
    return answer.promise
  }
  return { capabilities: ['repo:read'], call, asked: asked.promise, answer: () => answer.resolve('answered') }
}

/** Processes of workerd that have this as their directory, or are put around one. */
const processesIn = (directory: string): number[] =>
  execFileSync('sh', ['-c', 'ls -l /proc/[0-9]*/cwd 2>/dev/null || true'])
    .toString()
    .split('\n')
    .filter((line) => line.includes(directory))
    .map((line) => Number(/proc\/(\d+)\/cwd/.exec(line)?.[1]))

describe('the pool of processes', () => {
  it('gives a run that loops its end, and whoever waits for its process another', async () => {
    await using made = new AsyncDisposableStack()
    const { run, runtime } = await startWorkerRuntime(made, { processes: 1 })
    const [loop, late] = await Promise.all([run(LOOP, { timeoutMs: 500 }), run(FINE)])
    assert.equal(loop.kind === 'ended' && loop.error, 'It took longer than 500 ms')
    assert.equal(late.kind, 'returned')
    assert.deepEqual([runtime.counts.started, runtime.counts.killed], [2, 1])
  })

  it('never mixes organizations, and gives the place of one that is idle to who has none', async () => {
    await using made = new AsyncDisposableStack()
    const { run, runtime } = await startWorkerRuntime(made, {
      processes: 2,
      processesPerOrg: 2,
    })
    const [one, two] = [held(), held()]
    const busy = [run(ASKS, { orgId: 'a', ...one }), run(ASKS, { orgId: 'a', ...two })]
    await Promise.all([one.asked, two.asked])
    const other = run(FINE, { orgId: 'b' })
    const again = run(FINE, { orgId: 'a' })
    one.answer()
    assert.equal((await other).kind, 'returned')
    two.answer()
    for (const { kind } of await Promise.all([...busy, again])) assert.equal(kind, 'returned')
    assert.ok(runtime.counts.started >= 3 && runtime.processes <= 2)
  })

  it('gives up on who waits too long or is cancelled', async () => {
    await using made = new AsyncDisposableStack()
    const options = { processes: 1, waitMs: 100 }
    const { run } = await startWorkerRuntime(made, options)
    const one = held()
    const busy = run(ASKS, one)
    await one.asked
    const late = await run(FINE)
    assert.equal(late.kind === 'not begun' && late.reason, 'No process came free')
    const cancelling = new AbortController()
    const cancelled = run(FINE, { signal: cancelling.signal })
    cancelling.abort()
    assert.equal((await cancelled).kind, 'not begun')
    one.answer()
    assert.equal((await busy).kind, 'returned')
  })

  it('survives that a process dies at any moment', async () => {
    await using made = new AsyncDisposableStack()
    const { run, directory } = await startWorkerRuntime(made, { bubblewrap: undefined })
    assert.equal((await run(FINE)).kind, 'returned')
    const one = held()
    const begun = run(ASKS, one)
    await one.asked
    const pids = processesIn(directory)
    assert.ok(pids.length > 0)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    const outcome = await begun
    assert.equal(outcome.kind === 'ended' && outcome.error, 'Its process was ended from outside')
    assert.equal((await run(FINE)).kind, 'returned')
    for (const pid of processesIn(directory)) process.kill(pid, 'SIGKILL')
    // One that dies before it is known to: whatever comes of it, the run did not begin, or it did in another.
    assert.ok(['returned', 'not begun'].includes((await run(FINE)).kind))
  })

  it('replaces processes that have loaded many modules, and ends those that nobody uses', async () => {
    await using made = new AsyncDisposableStack()
    const { run, runtime, directory } = await startWorkerRuntime(made, { modulesPerProcess: 2, idleMs: 100 })
    for (const n of [1, 2, 3]) assert.equal((await run(`export default () => ${n}`)).kind, 'returned')
    assert.equal(runtime.counts.started, 2)
    while (runtime.processes > 0) await new Promise((resolve) => setTimeout(resolve, 50))
    assert.deepEqual(await readdir(directory), [])
    assert.deepEqual(processesIn(directory), [])
  })

  it('ends what is left behind by a run, and a process that has grown', async () => {
    const spinning = `import { waitUntil } from 'cloudflare:workers'
      const spin = async () => { for (;;) { const end = Date.now() + 20; while (Date.now() < end); await new Promise((r) => setTimeout(r, 1)) } }
      export default () => waitUntil(spin())`
    const keeping = 'globalThis.kept = new Uint8Array(120e6).fill(1); export default () => kept.length'
    const idle: [string, object][] = [
      [spinning, {}],
      [keeping, { bubblewrap: undefined }],
    ]
    for (const [code, options] of idle) {
      await using made = new AsyncDisposableStack()
      const { run, runtime } = await startWorkerRuntime(made, { memoryMb: 128, ...options })
      assert.equal((await run(code)).kind, 'returned')
      while (runtime.processes > 0) await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })

  it('says why when there is no process to be had', async () => {
    await using made = new AsyncDisposableStack()
    const { run, runtime } = await startWorkerRuntime(made, { workerd: '/bin/false', bubblewrap: undefined })
    const outcome = await run(FINE)
    assert.match(
      outcome.kind === 'not begun' ? outcome.reason : '',
      /could not be started: workerd ended with status 1/,
    )
    assert.equal(runtime.counts.failedStarts, 1)
  })

  it('leaves nothing behind when it closes in the middle of everything', async () => {
    await using made = new AsyncDisposableStack()
    const { run, runtime, directory } = await startWorkerRuntime(made)
    const one = held()
    const runs = [run(ASKS, one), run(LOOP, { orgId: 'b' }), run(FINE, { orgId: 'c' })]
    await one.asked
    await runtime.close()
    for (const { kind } of await Promise.all(runs))
      assert.ok(['ended', 'not begun', 'returned'].includes(kind))
    assert.deepEqual(await readdir(directory), [])
    assert.deepEqual(processesIn(directory), [])
    assert.equal((await run(FINE)).kind, 'not begun')
  })
})
