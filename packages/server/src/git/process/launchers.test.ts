import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGit } from './command.ts'
import { createLaunchers, type Launchers } from './launchers.ts'

const launchers = createLaunchers({ ready: 2 })
after(() => launchers.close())

const env = { PATH: '/usr/bin:/bin' }

/** One is at hand a moment after the first was wanted, and after the last was taken. */
async function take(
  from: Launchers,
  program: string,
  { args = [], ...others }: Partial<Parameters<Launchers['take']>[0]> = {},
) {
  for (;;) {
    const child = from.take({ program, args, env, ...others })
    if (child) return child
    await sleep(5)
  }
}

/** The first time there is none; from then on some wait. */
const wantOne = (from: Launchers) => assert.equal(from.take({ program: 'true', args: [], env }), undefined)

const hostile = [
  'plain',
  '',
  ' ',
  'two  words ',
  '$(touch /tmp/no)',
  '`id`',
  '$HOME "quoted" \'single\'',
  'back\\slash\\n',
  '+plus',
  '=equals',
  '-n',
  '*',
  'ünï¢ødé 🙂',
  '\t\u0001',
]

test('becomes the program, with exactly these arguments', async () => {
  const child = await take(launchers, 'printf', { args: ['%s\\0', ...hostile] })
  child.stdin.end()
  assert.deepEqual((await text(child.stdout)).split('\0').slice(0, -1), hostile)
})

test('has what is given for its environment, and nothing of ours', async () => {
  const values = Object.fromEntries(hostile.map((value, i) => [`VALUE_${i}`, value]))
  const child = await take(launchers, 'env', { args: ['-0'], env: { ...env, ...values } })
  child.stdin.end()
  const seen = (await text(child.stdout)).split('\0').slice(0, -1)
  const own = ['LC_ALL=C', 'PWD=/']
  assert.deepEqual(
    seen.filter((line) => !own.includes(line)).sort(),
    Object.entries({ ...env, ...values })
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
  )
})

test('leaves all of its input to the program', async () => {
  const input = randomBytes(1024 * 1024)
  const child = await take(launchers, 'cat')
  child.stdin.end(input)
  assert.deepEqual(await buffer(child.stdout), input)
})

test('writes into a file that has no name', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'launchers-')), 'file')
  const file = await open(path, 'wx+')
  rmSync(dirname(path), { recursive: true })
  const child = await take(launchers, 'cat', { into: file.fd })
  child.stdin.end('into the file')
  child.stdout.on('data', (chunk) => assert.fail(`${chunk}`))
  assert.deepEqual(await once(child, 'close'), [0, null])
  const { buffer, bytesRead } = await file.read(Buffer.alloc(100), 0, 100, 0)
  assert.equal(buffer.toString('utf8', 0, bytesRead), 'into the file')
  await file.close()
})

test('ends as the program ends', async () => {
  const child = await take(launchers, 'sh', { args: ['-c', 'exit 41'] })
  child.stdin.end()
  assert.deepEqual(await once(child, 'close'), [41, null])
  const killed = await take(launchers, 'sleep', { args: ['60'] })
  killed.kill('SIGKILL')
  assert.deepEqual(await once(killed, 'close'), [null, 'SIGKILL'])
})

test('once they are closed git is started as it always was', async () => {
  const closed = createLaunchers({ ready: 2 })
  const git = createGit({ launchers: closed })
  wantOne(closed)
  await sleep(100)
  closed.close()
  const { stdout } = await git.run('/nonexistent', { verb: 'version' })
  assert.match(String(stdout), /^git version/)
})

test('a line break or a zero cannot be told, and costs no process', async () => {
  const first = await take(launchers, 'true')
  first.stdin.end()
  await once(first, 'close')
  assert.equal(launchers.take({ program: 'printf', args: ['two\nlines'], env }), undefined)
  assert.equal(launchers.take({ program: 'printf', args: ['a\0b'], env }), undefined)
  assert.equal(launchers.take({ program: 'true', args: [], env: { ...env, NAME: 'two\nlines' } }), undefined)
  const next = await take(launchers, 'true')
  next.stdin.end()
  assert.deepEqual(await once(next, 'close'), [0, null])
})

test('git runs whether one is at hand or not', async () => {
  const few = createLaunchers({ ready: 1 })
  const git = createGit({ launchers: few })
  const asked = Array.from({ length: 5 }, () => git.run('/nonexistent', { verb: 'version' }))
  for (const { stdout } of await Promise.all(asked)) assert.match(String(stdout), /^git version/)
  await sleep(60)
  const { stdout } = await git.run('/nonexistent', {
    verb: 'hash-object',
    options: ['--stdin'],
    stdin: 'a\n',
  })
  assert.equal(String(stdout).trim(), '78981922613b2afb6025042ff6bd878ac1994e85')
  few.close()
})

test('one that died while it waited is not used', async () => {
  await sleep(100)
  const others = await shellsOf(process.pid)
  const mortal = createLaunchers({ ready: 1 })
  wantOne(mortal)
  await sleep(100)
  const [waiting, ...more] = await shellsOf(process.pid, others)
  assert.ok(waiting)
  assert.deepEqual(more, [])
  process.kill(waiting, 'SIGKILL')
  await sleep(60)
  const git = createGit({ launchers: mortal })
  assert.match(String((await git.run('/nonexistent', { verb: 'version' })).stdout), /^git version/)
  mortal.close()
})

test('those that wait end when they are closed, and with a process that is killed', async () => {
  const script = `
    const { createLaunchers } = await import(process.argv[1])
    const launchers = createLaunchers({ ready: 2 })
    launchers.take({ program: 'true', args: [], env: {} })
    setInterval(() => {}, 1000)
    console.log('ready')
    process.once('SIGUSR2', () => launchers.close())
  `
  const here = new URL('./launchers.ts', import.meta.url).href
  for (const signal of ['SIGUSR2', 'SIGKILL'] as const) {
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script, here])
    try {
      await once(createInterface({ input: parent.stdout }), 'line')
      let shells = await shellsOf(parent.pid)
      for (; shells.length < 2; shells = await shellsOf(parent.pid)) await sleep(10)
      assert.equal(shells.length, 2)
      parent.kill(signal)
      for (const shell of shells) while (await isAlive(shell)) await sleep(10)
    } finally {
      await end(parent)
    }
  }
})

test('a process without free descriptors is told that git cannot be started, and goes on', async () => {
  const script = `
    import { openSync } from 'node:fs'
    const [launchersUrl, commandUrl] = process.argv.slice(1)
    const { createLaunchers } = await import(launchersUrl)
    const { createGit, GitError } = await import(commandUrl)
    const launchers = createLaunchers({ ready: 2 })
    launchers.take({ program: 'true', args: [], env: {} })
    const git = createGit({ launchers })
    const opened = []
    try {
      for (;;) opened.push(openSync('/dev/null'))
    } catch {}
    await new Promise((resolve) => setTimeout(resolve, 200))
    const outcome = await git.run('/nonexistent', { verb: 'version' }).catch((error) => error)
    console.log(outcome instanceof GitError ? outcome.message : outcome)
  `
  const urls = ['./launchers.ts', './command.ts'].map((file) => new URL(file, import.meta.url).href)
  const limited = 'ulimit -n 100; exec "$@"'
  const child = spawn('/bin/sh', [
    ...['-c', limited, 'sh', process.execPath, '--input-type=module', '--eval', script],
    ...urls,
  ])
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.equal(complained, '')
  assert.match(said, /^git version could not be started/)
})

async function end(child: ChildProcess & { stdout: Readable }): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

/** The shells that wait as children of a process. */
async function shellsOf(pid: number | undefined, but: number[] = []): Promise<number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).match(/\d+/g) ?? []
  const found: number[] = []
  for (const child of children.map(Number)) {
    const command = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')
    if (command.endsWith('launcher\0') && !but.includes(child)) found.push(child)
  }
  return found
}

async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined)
  return status !== undefined && !/State:\s+Z/.test(status)
}
