// Extensions that mean harm, in cages: those of one cage belong to one organization, and are let out one after the other
// (in the sandbox all at once). Limits are those of `ZOO_LIMITS`.

export interface Animal {
  runtime?: 'worker' | 'workflow' | 'sandbox'
  /** What it is granted. */
  capabilities?: string[]
  /** What stands before the function. */
  above?: string
  /** The body of the function, which is given `input` and `ctx`. */
  does: string
  /** How it ends. Without, it is let off with this output: what it tried came to nothing. */
  error?: RegExp
  output?: unknown
}

export type Cage = Record<string, Animal>

export const ZOO_LIMITS = {
  TRELLIS_RUN_TIMEOUT_SECONDS: '2',
  TRELLIS_RUN_MEMORY_MB: '64',
  TRELLIS_RUN_LOG_BYTES: '20000',
  TRELLIS_SANDBOX_TIMEOUT_SECONDS: '4',
  TRELLIS_SANDBOX_MEMORY_MB: '160',
  TRELLIS_SANDBOX_DISK_MB: '16',
  TRELLIS_SANDBOX_PROCESSES: '48',
}

/** Also of sandboxes, which have twice as long. */
export const LATE = /^It took longer than [24] s$/
const MEMORY = /^It used more than 64 MB of memory$|allocation failed/
const deep = (levels: number) => `let deep: any = []; for (let i = 0; i < ${levels}; i++) deep = [deep];`

export const LOOPS: Cage = {
  loop: { does: 'for (;;);', error: LATE },
  'in-a-microtask': { does: 'for (;;) await null', error: LATE },
}

export const MORE_LOOPS: Cage = {
  'in-an-expression': { does: 'return /^(a+)+$/.test("a".repeat(60) + "b")', error: LATE },
  'at-the-top': { above: 'for (;;);', does: '', error: LATE },
}

export const BOMBS: Cage = {
  heap: { does: 'const all: any[] = []; for (;;) all.push([1, 2, 3])', error: MEMORY },
  buffers: {
    does: 'const all: any[] = []; for (;;) all.push(new Uint8Array(2 ** 24).fill(1))',
    error: MEMORY,
  },
  'in-a-step': {
    runtime: 'workflow',
    does: `await ctx.step.do('x', { timeoutMs: 600_000 }, () => { for (;;); })`,
    error: LATE,
  },
  'ages-in-a-step': {
    runtime: 'workflow',
    does: `await ctx.step.do('x', { timeoutMs: 1e9 }, () => 1)`,
    error: /Bad request: options.timeoutMs: .*600000/,
  },
  'large-step': {
    runtime: 'workflow',
    does: `await ctx.step.do('x', () => 'x'.repeat(3e5))`,
    error: /up to 262144 characters/,
  },
  'never-in-a-workflow': {
    runtime: 'workflow',
    does: 'await new Promise(() => {})',
    error: /can never happen/,
  },
}

export const TALKERS: Cage = {
  never: { does: 'await new Promise(() => {})', error: /can never happen/ },
  rejects: { does: 'Promise.reject(new Error("left alone")); return 1', error: /^Error: left alone$/ },
  'throws-what-throws': {
    does: 'throw { get message() { throw 1 }, get name() { throw 2 }, get stack() { throw 3 } }',
    error: /cannot be looked at/,
  },
  'ten-thousand-timers': {
    does: 'for (let i = 0; i <= 1e4; i++) setInterval(() => {}, 1)',
    error: /QuotaExceededError/,
  },
  'floods-the-log': {
    does: 'for (let i = 0; i < 2e4; i++) console.log("x".repeat(100)); return "said"',
    output: 'said',
  },
  // With a secret there is something to look for on every level.
  'deep-log': {
    capabilities: ['secret:TOKEN'],
    does: `${deep(8_000)} ctx.log('deep', deep); return 'said'`,
    output: 'said',
  },
  escapes: {
    does: 'console.log("\\u001b[2J\\u0000\\ud800\\u2028\\nid: 9\\n\\ndata: {}"); return "said"',
    output: 'said',
  },
  'deep-output': { does: `${deep(1e5)} return deep`, error: /more than 200 levels/ },
  'many-values': { does: 'return Array.from({ length: 2e5 }, () => [])', error: /more than 100000 values/ },
  'large-output': { does: 'return "x".repeat(2e6)', error: /more than 1048576 bytes/ },
  'deep-call': {
    capabilities: ['events:emit'],
    does: `${deep(1e4)} return ctx.events.emit('zoo.deep', { payload: deep })`,
    error: /more than 203 levels/,
  },
  'many-calls': {
    capabilities: ['repo:read'],
    does: 'for (;;) await Promise.allSettled(Array.from({ length: 500 }, () => ctx.repo.tags()))',
    error: LATE,
  },
  'floods-events': {
    capabilities: ['events:emit'],
    does: `for (;;) await ctx.events.emit('zoo.flood', { payload: 'x'.repeat(64_000) })`,
    error: /A run may emit|^It took longer than [24] s$/,
  },
  'reaches-out': {
    does: `
      const refused: any = {}
      const attempt = async (name: string, fn: () => unknown) => {
        try { refused[name] = 'DONE ' + await fn() } catch { refused[name] = 'refused' }
      }
      await attempt('fetch', () => fetch('http://169.254.169.254/'))
      await attempt('code', () => ctx.run.constructor.constructor('return 1')())
      await attempt('frozen', () => { 'use strict'; ctx.repo = 1 })
      return { refused: Object.values(refused), has: Object.keys(ctx) }`,
    output: {
      refused: Array.from({ length: 3 }, () => 'refused'),
      has: ['run', 'log', 'signal'],
    },
  },
}

/** These are told by their input where to go, and are asked more than once. */
export const CLIMBERS = {
  // In steps, so that each has time of its own.
  'follows-redirects': {
    runtime: 'workflow',
    capabilities: ['net:127.0.0.1', 'net:127.0.0.2', 'net:169.254.169.254', 'net:localhost'],
    does: `
      const tried = (url: string) => ctx.fetch(url).then((r: any) => String(r.status), (e: any) => e.code + ': ' + e.message)
      const answers: any = {}
      for (const url of input.urls) answers[url] = await ctx.step.do(url, () => tried(url))
      return answers`,
  },
  'looks-at-others': {
    runtime: 'workflow',
    capabilities: ['repo:read', 'records:read', 'runs:dispatch'],
    does: `
      const tried = (name: string, ask: () => Promise<unknown>) =>
        ctx.step.do(name, () => ask().then((v) => 'GOT ' + JSON.stringify(v), (e) => e.code))
      return [
        await tried('read', () => ctx.repo.readText('private.txt', { ref: input.oid })),
        await tried('list', () => ctx.repo.list('', { ref: input.oid })),
        await tried('compare', () => ctx.repo.compare(input.oid, 'main')),
        await tried('record', () => ctx.records.get('task', input.row)),
        await tried('run', () => ctx.runs.dispatch('../other/extensions/good', {})),
      ]`,
  },
  'floods-records': {
    capabilities: ['records:write'],
    does: `for (;;) await Promise.allSettled(Array.from({ length: 100 }, () => ctx.records.create('task', { title: 'x'.repeat(1e4) })))`,
  },
  'goes-on-when-cancelled': {
    capabilities: ['events:emit'],
    does: `
      const told = new Promise((go) => ctx.signal.addEventListener('abort', go))
      await ctx.events.emit('zoo.begun')
      await told
      for (;;) { await ctx.events.emit('zoo.late').catch(() => {}); await new Promise((go) => setTimeout(go, 50)) }`,
  },
} satisfies Cage

const forever = 'await new Promise((go) => setTimeout(go, 1e6))'
const node = `
  import { spawn, spawnSync } from 'node:child_process'
  import fs from 'node:fs'
  import net from 'node:net'
  const sh = (script: string) => spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
  const tried = (what: () => unknown) => { try { return what() } catch (error: any) { return error.code } }
  const write = (bytes: Buffer) => { for (let at = 0; at < bytes.length; ) at += fs.writeSync(3, bytes, at) }`

const sandboxed = (
  does: string,
  ends: Pick<Animal, 'error' | 'output'>,
  capabilities: string[] = [],
): Animal => ({
  ...{ runtime: 'sandbox', above: node, capabilities, does },
  ...ends,
})

export const BURROWERS: Cage = {
  'many-loops': sandboxed(
    `for (let i = 0; i < 10; i++) spawn('/bin/sh', ['-c', 'while :; do :; done'], { detached: true }); ${forever}`,
    { error: LATE },
  ),
  'fork-bomb': sandboxed(`sh('bomb() { bomb | bomb & }; bomb'); ${forever}`, {
    error: /^It started more than 48 processes and threads$/,
  }),
  'memory-bomb': sandboxed('const all: any[] = []; for (;;) all.push(Buffer.alloc(2 ** 24, 1))', {
    error: /^It used more than 160 MB of memory$/,
  }),
  'disk-filler': sandboxed(
    `for (let i = 0; ; i++) try { fs.writeFileSync('f' + i, Buffer.alloc(2 ** 20)) } catch {}`,
    {
      error: /^It wrote more than 16 MB to the tree and \/tmp$/,
    },
  ),
  'output-flood': sandboxed(`spawn('yes', { stdio: 'inherit' }); ${forever}`, {
    error: /^It (wrote more than 64 MB|took longer than 4 s)/,
  }),
  'deep-words': sandboxed(
    `write(Buffer.from('{"log":{"level":"info","message":"x","data":' + '['.repeat(8e3) + ']'.repeat(8e3) + '}}\\n')); ${forever}`,
    { error: /more than 203 levels/ },
    ['secret:TOKEN'],
  ),
  'many-words': sandboxed(
    `write(Buffer.from('{"call":1,"method":"x","args":[' + '[],'.repeat(1e6) + '[]]}\\n')); ${forever}`,
    { error: /more than 100100 values/ },
  ),
  'leaves-a-daemon': sandboxed(
    `spawn('/bin/sh', ['-c', 'sleep 1000; :'], { detached: true, stdio: 'ignore' }).unref(); return 'left'`,
    { output: 'left' },
  ),
  'looks-around': sandboxed(
    `
      const connected = (to: any) => new Promise((resolve) => {
        net.connect(to, () => resolve('connected')).on('error', ({ code }: any) => resolve(code))
      })
      const read = (path: string) => tried(() => fs.readFileSync(path, 'latin1').length)
      const environments = fs.readdirSync('/proc').filter(Number).map((pid) => tried(() => fs.readFileSync('/proc/' + pid + '/environ', 'latin1')))
      return {
        read: [input.data, input.data + '/server.key', '/etc/shadow', '/proc/' + input.pid + '/environ'].map(read),
        told: environments.some((text) => String(text).includes(input.mark)),
        kill: tried(() => process.kill(input.pid, 0)),
        net: await Promise.all([{ port: input.port }, { host: '169.254.169.254', port: 80 }].map(connected)),
        has: Object.keys(ctx).sort(),
      }`,
    {
      output: {
        read: ['ENOENT', 'ENOENT', 'ENOENT', 'ENOENT'],
        told: false,
        kill: 'ESRCH',
        net: ['ECONNREFUSED', 'ENETUNREACH'],
        has: ['log', 'run', 'signal'],
      },
    },
  ),
}

/** What is pushed to have them. */
export const filesOfCage = (cage: Cage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(cage).flatMap(([name, { runtime = 'worker', capabilities = [], above = '', does }]) => [
      [
        `extensions/${name}/extension.json`,
        JSON.stringify({ version: 1, name, dispatch: true, runtime, capabilities }),
      ],
      [
        `extensions/${name}/index.ts`,
        `${above}\nexport default async (input: any, ctx: any) => { ${does} }\n`,
      ],
    ]),
  )
