import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { SANDBOX_LIMITS, sandboxesInSuite } from '../../testing/sandboxes.ts'
import type { SandboxRuntime } from './sandbox-runtime.ts'

/** To be found among all processes of the machine. */
const newMark = () => `mark${randomBytes(8).toString('hex')}`

function isThere(mark: string): boolean {
  return globSync('/proc/[0-9]*/cmdline').some((file) => {
    try {
      return readFileSync(file, 'latin1').includes(mark)
    } catch {
      return false
    }
  })
}

/** Processes that were killed are gone a moment later. */
async function gone(mark: string): Promise<void> {
  while (isThere(mark)) await delay(20)
}

const forever = 'await new Promise((go) => setTimeout(go, 1e6))'

describe('a run in the sandbox that takes too much', { concurrency: true }, () => {
  const sandboxes = sandboxesInSuite()
  const run: typeof sandboxes.run = (...args) => sandboxes.run(...args)

  it('is told when its time is over, asked to end, and ended', async (t) => {
    const mark = newMark()
    const looping = run(t, 'for (;;) ;', { timeoutMs: 300 })
    const deaf = run(
      t,
      `
      ctx.signal.onabort = () => console.log('told: ' + ctx.signal.reason.message)
      process.on('SIGTERM', () => console.log('asked'))
      spawn('/bin/sh', ['-c', 'trap "" TERM; : ${mark}; sleep 1000; sleep 1000'], { detached: true, stdio: 'inherit' })
      ${forever}
      `,
      { timeoutMs: 1000 },
    )
    const cancelled = new AbortController()
    const willing = run(t, `ctx.log('here'); ctx.signal.onabort = () => process.exit(0); ${forever}`, {
      signal: cancelled.signal,
      log: () => cancelled.abort(),
    })
    // It has nothing to wait for but that.
    const patient = run(t, `await new Promise((go) => ctx.signal.addEventListener('abort', go))`, {
      timeoutMs: 300,
    })
    const ran = await Promise.all([looping, deaf, willing, patient])
    if (!ran[0]) return
    const late = (time: string) => ({ kind: 'ended', error: `It took longer than ${time}` })
    assert.deepEqual(ran[0].outcome, { ...late('300 ms'), exitCode: 143 })
    assert.deepEqual(ran[1]?.outcome, { ...late('1 s'), exitCode: 137 })
    assert.deepEqual(
      ran[1]?.lines.map(({ message }) => message),
      ['told: It took longer than 1 s', 'asked'],
    )
    assert.equal(ran[2]?.outcome.kind === 'ended' && ran[2].outcome.error, 'It was cancelled')
    assert.deepEqual(ran[3]?.outcome, { ...late('300 ms'), exitCode: 1 })
    await gone(mark)
  })

  const memory = 'It used more than 200 MB of memory'
  const disk = 'It wrote more than 32 MB to the tree and /tmp'
  const processes = 'It started more than 60 processes and threads'
  const buffers = 'const all = []; for (;;) { all.push(Buffer.alloc(2 ** 22, 1)); await null }'
  // It keeps everything until the end of the line.
  const child = `sh('head -c 2000000000 /dev/zero | tail'); ${forever}`
  const many = `sh('while :; do sleep 1000 & done'); ${forever}`
  const shared = `sh('cat /dev/zero > /dev/shm/zero'); ${forever}`

  async function compare(t: TestContext, on: SandboxRuntime, expected: [body: string, error: string][]) {
    const ran = await Promise.all(expected.map(([body]) => run(t, body, { on })))
    if (!ran[0]) return
    const errors = ran.map((one) => one?.outcome.kind === 'ended' && one.outcome.error)
    assert.deepEqual(
      errors,
      expected.map(([, error]) => error),
    )
  }

  it('ends by its memory, its processes and its disk', (t) =>
    compare(t, sandboxes.runtime, [
      ['const all = []; for (;;) all.push(new Array(1e5).fill(all.length))', memory],
      [buffers, memory],
      [child, memory],
      [many, processes],
      [`sh('bomb() { bomb | bomb & }; bomb'); ${forever}`, processes],
      [`for (let i = 0; ; i++) try { fs.writeFileSync('f' + i, Buffer.alloc(2 ** 20)) } catch {}`, disk],
      [`for (let i = 0; ; i++) fs.writeFileSync('/tmp/f' + i, '')`, disk],
    ]))

  it('does so without control groups as well', (t) =>
    compare(t, sandboxes.plain, [
      [buffers, memory],
      [child, memory],
      [many, processes],
      [shared, disk],
    ]))

  it('ends by what it says', async (t) => {
    const [lines, written, message, output, raw] = await Promise.all([
      run(t, 'for (let i = 0; i < 1e4; i++) console.log("line " + i, "x".repeat(1000))'),
      run(t, `spawn('yes', { stdio: 'inherit' }); ${forever}`),
      run(t, 'fs.writeSync(3, "x".repeat(1e6)); fs.writeSync(3, "\\n"); return 1'),
      run(t, 'return "x".repeat(2000)'),
      run(t, `for (;;) fs.writeSync(3, '{"log":{"level":"info","message":"x"}}\\n')`),
    ])
    if (!lines) return
    assert.equal(lines.outcome.kind, 'returned')
    assert.match(lines.lines.at(-1)?.message ?? '', /The log ends here/)
    assert.ok(lines.lines.length < 25)
    assert.equal(
      written?.outcome.kind === 'ended' && written.outcome.error,
      'It wrote more than 1 MB to its output',
    )
    assert.equal(written?.lines.length, 101)
    assert.match(
      String(message?.outcome.kind === 'ended' && message.outcome.error),
      /^It sent more than \d+ bytes/,
    )
    assert.match(
      String(output?.outcome.kind === 'ended' && output.outcome.error),
      /larger than 2000 characters/,
    )
    assert.match(String(raw?.outcome.kind === 'ended' && raw.outcome.error), /replaced what reports for it/)
    assert.equal(raw?.lines.length, 101)
  })

  it('leaves nothing behind, and neither does one that makes itself a daemon', async (t) => {
    const mark = newMark()
    const ran = await run(
      t,
      `
      const daemon = spawn('/bin/sh', ['-c', ': ${mark}; sleep 1000; :'], { detached: true, stdio: 'ignore' })
      daemon.unref()
      return sh('ps ax').stdout.includes('${mark}')
      `,
    )
    if (!ran) return
    assert.deepEqual(ran.outcome, { kind: 'returned', output: true, exitCode: 0 })
    await gone(mark)
    assert.ok(!readFileSync('/proc/self/mountinfo', 'utf8').includes(sandboxes.directory))
  })

  it('ends with a server that is killed', async (t) => {
    const mark = newMark()
    if (!(await run(t, 'return 1'))) return
    const file = (name: string) => JSON.stringify(join(import.meta.dirname, name))
    const server = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `
      import { findControlGroups } from ${file('cgroups.ts')}
      import { findSandbox } from ${file('find.ts')}
      import { createSandboxRuntime } from ${file('sandbox-runtime.ts')}
      const options = ${JSON.stringify(SANDBOX_LIMITS)}
      const groups = await findControlGroups('/nonexistent')
      const sandbox = await findSandbox({ directory: process.argv[1], hidden: [], groups })
      const code = 'import { spawn } from "node:child_process"; export default () => {' +
        'spawn("/bin/sh", ["-c", "trap : TERM; : ${mark}; sleep 1000; :"], { detached: true }); console.log("here"); for (;;) ; }'
      const job = { orgId: 'o', repoId: 'r', module: { hash: 'h', code }, tree: 'c', run: { commitSha: 'c' }, capabilities: [], secrets: {}, timeoutMs: 60_000 }
      const runtime = createSandboxRuntime({ ...options, sandbox, checkOut: async () => {} })
      runtime.run(job, { call() {}, log: ({ message }) => console.log(message) }, new AbortController().signal)
    `,
        join(sandboxes.directory, 'killed'),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const [said] = (await once(server.stdout, 'data')) as [Buffer]
    assert.equal(said.toString(), 'here\n')
    assert.ok(isThere(mark))
    server.kill('SIGKILL')
    await once(server, 'close')
    await gone(mark)
    // What is left is directories, without any mount.
    await rm(join(sandboxes.directory, 'killed'), { recursive: true })
  })
})
