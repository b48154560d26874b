import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtempDisposable, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGit } from './command.ts'
import { createLaunchers, type Launchers } from './launchers.ts'

const root = mkdtempSync(join(tmpdir(), 'launchers-'))
let made = 0
const newLaunchers = (ready = 2) => createLaunchers({ directory: join(root, String(++made)), ready })

const launchers = newLaunchers()
after(() => {
  launchers.close()
  rmSync(root, { recursive: true })
})

const env = { PATH: '/usr/bin:/bin' }

async function take(
  from: Launchers,
  program: string,
  { args = [], ...others }: Partial<Parameters<Launchers['take']>[0]> = {},
) {
  const child = await from.take({ program, args, env, ...others })
  assert.ok(child)
  return child
}

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

test('reads a file, whatever its name is', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'launchers-'))
  for (const name of ['file', ' a $(touch x) `b` "c" \\d ', "-e '", '<']) {
    const from = join(dir.path, name)
    await writeFile(from, name)
    const child = await take(launchers, 'cat', { from })
    child.stdin.end('something else')
    assert.equal(await text(child.stdout), name)
  }
  const child = await take(launchers, 'cat', { from: join(dir.path, 'none') })
  const [code] = await once(child, 'close')
  assert.notEqual(code, 0)
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
  for (const code of [0, 1, 41, 128, 129]) {
    const child = await take(launchers, 'sh', { args: ['-c', `exit ${code}`] })
    assert.deepEqual(await once(child, 'close'), [code, null])
  }
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGXCPU'] as const) {
    const child = await take(launchers, 'sleep', { args: ['60'] })
    process.kill(-child.pid, signal)
    assert.deepEqual(await once(child, 'close'), [null, signal])
  }
})

test('what it starts ends together with it, and nobody is left behind', async () => {
  const child = await take(launchers, 'sh', { args: ['-c', 'sleep 60 & echo $!; wait'] })
  const [helper] = await once(createInterface({ input: child.stdout }), 'line')
  process.kill(-child.pid, 'SIGKILL')
  await once(child, 'close')
  while (await isAlive(Number(helper))) await sleep(10)
  while (existsSync(`/proc/${child.pid}`)) await sleep(10)
})

test('has no descriptor of ours', async () => {
  const script = 'for each in 3 4 5 6 7 8 9; do { true >&$each; } 2> /dev/null && echo $each; done'
  const child = await take(launchers, 'sh', { args: ['-c', script] })
  assert.equal(await text(child.stdout), '')
})

test('a program that does not read is known by its end, one that closes its input by a broken pipe', async () => {
  const child = await take(launchers, 'sh', { args: ['-c', 'exec < /dev/null; echo closed; sleep 60'] })
  await once(child.stdout, 'data')
  const failed = once(child.stdin, 'error')
  child.stdin.write('to nobody')
  assert.equal((await failed)[0].code, 'EPIPE')
  process.kill(-child.pid, 'SIGKILL')
  await once(child, 'close')
})

test('many at once are started all the same, and leave no names behind', async () => {
  const directory = join(root, String(made + 1))
  const few = newLaunchers(1)
  const git = createGit({ launchers: few })
  const asked = Array.from({ length: 20 }, () => git.run('/nonexistent', { verb: 'version' }))
  for (const { stdout } of await Promise.all(asked)) assert.match(String(stdout), /^git version/)
  const { stdout } = await git.run('/nonexistent', {
    verb: 'hash-object',
    options: ['--stdin'],
    stdin: 'a\n',
  })
  assert.equal(String(stdout).trim(), '78981922613b2afb6025042ff6bd878ac1994e85')
  const [shell] = (await familyOf(directory)).filter(({ parent }) => parent === process.pid)
  assert.ok(shell)
  while (readdirSync('/proc').some((pid) => isForgotten(pid, shell))) await sleep(20)
  few.close()
  while ((await familyOf(directory)).length > 0) await sleep(20)
  const left = readdirSync(directory)
  assert.ok(left.length <= 32, `${left.length} names`)
})

test('once they are closed git is started as it always was', async () => {
  const closed = newLaunchers()
  const git = createGit({ launchers: closed })
  await git.run('/nonexistent', { verb: 'version' })
  const asked = closed.take({ program: 'true', args: [], env })
  closed.close()
  await asked
  assert.equal(await closed.take({ program: 'true', args: [], env }), undefined)
  assert.match(String((await git.run('/nonexistent', { verb: 'version' })).stdout), /^git version/)
})

test('a line break or a zero cannot be told', async () => {
  assert.equal(await launchers.take({ program: 'printf', args: ['two\nlines'], env }), undefined)
  assert.equal(await launchers.take({ program: 'printf', args: ['a\0b'], env }), undefined)
  assert.equal(
    await launchers.take({ program: 'true', args: [], env: { ...env, NAME: 'two\nlines' } }),
    undefined,
  )
})

test('those that died while they waited are not used', async () => {
  const directory = join(root, String(made + 1))
  const mortal = newLaunchers(1)
  const git = createGit({ launchers: mortal })
  await git.run('/nonexistent', { verb: 'version' })
  let waiting: Process[] = []
  for (; waiting.length === 0; await sleep(20))
    waiting = (await familyOf(directory)).filter(({ words }) => words[3] === 'launcher')
  for (const { pid } of waiting) process.kill(-pid, 'SIGKILL')
  while ((await familyOf(directory)).some(({ pid }) => waiting.some((dead) => dead.pid === pid)))
    await sleep(20)
  // We may not have been told yet.
  await sleep(50)
  assert.match(String((await git.run('/nonexistent', { verb: 'version' })).stdout), /^git version/)
  mortal.close()
})

test('git runs when the one who forks was killed, and those who waited for it', async () => {
  const directory = join(root, String(made + 1))
  const mortal = newLaunchers(1)
  const git = createGit({ launchers: mortal })
  const open = { verb: 'hash-object', options: ['--stdin'], stdin: 'open' } as const
  const running = await git.start('/nonexistent', open)
  let shells: Process[] = []
  for (; shells.length < 2; await sleep(20))
    shells = (await familyOf(directory)).filter(({ words }) => words.includes(directory))
  for (const { pid } of shells) process.kill(pid, 'SIGKILL')
  await assert.rejects(running.done, /killed by SIGKILL/)
  assert.match(String((await git.run('/nonexistent', { verb: 'version' })).stdout), /^git version/)
  mortal.close()
})

test('all of them end when they are closed, and with a process that is killed at any moment', async () => {
  const script = `
    const { createLaunchers } = await import(process.argv[1])
    const launchers = createLaunchers({ directory: process.argv[2], ready: 2 })
    const run = () => launchers.take({ program: 'true', args: [], env: {} }).then((child) => child?.once('close', run))
    for (let i = 0; i < 4; i++) run()
    setInterval(() => {}, 1000)
    console.log('ready')
    process.once('SIGUSR2', () => launchers.close())
  `
  const here = new URL('./launchers.ts', import.meta.url).href
  for (const signal of ['SIGUSR2', 'SIGKILL', 'SIGKILL'] as const) {
    const directory = join(root, String(++made))
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script, here, directory])
    try {
      await once(createInterface({ input: parent.stdout }), 'line')
      let shells: Process[] = []
      for (; shells.length < 2; await sleep(20)) shells = await familyOf(directory)
      parent.kill(signal)
      for (const shell of shells) while (await isAlive(shell.pid)) await sleep(20)
      while ((await familyOf(directory)).length > 0) await sleep(20)
    } finally {
      await end(parent)
    }
  }
})

test('a process without free descriptors is told that git cannot be started, and goes on', async () => {
  const script = `
    import { openSync } from 'node:fs'
    const [directory, launchersUrl, commandUrl] = process.argv.slice(1)
    const { createLaunchers } = await import(launchersUrl)
    const { createGit, GitError } = await import(commandUrl)
    const launchers = createLaunchers({ directory, ready: 2 })
    await launchers.take({ program: 'true', args: [], env: {} })
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
    join(root, 'without'),
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

interface Process {
  pid: number
  parent: number
  words: string[]
}

/** The shell that forks into this directory, those that wait for others, and all below. */
async function familyOf(directory: string): Promise<Process[]> {
  const all: Process[] = []
  for (const name of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const words = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '')
    if (/^State:\s+Z/m.test(status)) continue
    const parent = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1])
    all.push({ pid: Number(name), parent, words: words.split('\0') })
  }
  const forks = all.filter(({ words }) => words[3] === 'forks' && words[4] === directory)
  const family = new Set(forks.map(({ pid }) => pid))
  // Twice, since a child may have the smaller number.
  for (const { pid, parent } of [...all, ...all]) if (family.has(parent)) family.add(pid)
  return all.filter(({ pid }) => family.has(pid))
}

/** Whether it has ended and its parent has not taken note. */
function isForgotten(pid: string, { pid: parent }: Process): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return /^State:\s+Z/m.test(status) && status.includes(`\nPPid:\t${parent}\n`)
  } catch {
    return false
  }
}

async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined)
  return status !== undefined && !/State:\s+Z/.test(status)
}
