import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPlaces } from '../../platform/places.ts'
import { EMPTY_TREE_OID, type Oid, parseTreePath } from '../names.ts'
import { createGit, GitError, GitTimeout } from './command.ts'

const root = mkdtempSync(join(tmpdir(), 'git-command-'))
const repo = join(root, 'repo.git')
const git = createGit()

before(() => execFileSync('git', ['init', '-q', '--bare', repo]))
after(() => rmSync(root, { recursive: true, force: true }))

/** A stand-in for git that does what a test needs. */
async function script(name: string, body: string): Promise<string> {
  const file = join(root, name)
  await writeFile(file, `#!/bin/sh\n${body}\n`)
  await chmod(file, 0o755)
  return file
}

test('collects what git prints', async () => {
  const { stdout } = await git.run(repo, { verb: 'rev-parse', options: ['--is-bare-repository'] })
  assert.equal(stdout.toString(), 'true\n')
})

test('does not compile with an option or a value made at run time', async () => {
  const outside: string = '--output=/tmp/x'
  const unused = () => [
    // @ts-expect-error options are written in the source
    git.run(repo, { verb: 'log', options: [outside] }),
    // @ts-expect-error one bad option among good ones is refused too
    git.run(repo, { verb: 'log', options: ['--all', outside] }),
    // @ts-expect-error values come from a parser
    git.run(repo, { verb: 'log', values: [outside] }),
    // @ts-expect-error so is the verb
    git.run(repo, { verb: outside }),
    git.run(repo, { verb: 'log', options: ['--all', false, `--max-count=${3}`], values: [EMPTY_TREE_OID] }),
  ]
  assert.equal(typeof unused, 'function')
})

test('a failure carries what git said in a field, not in the message', async () => {
  const oid = 'f'.repeat(40) as Oid
  await assert.rejects(git.run(repo, { verb: 'cat-file', options: ['-p'], values: [oid] }), (error) => {
    assert(error instanceof GitError)
    assert.match(error.stderr, /fatal/)
    assert.equal(error.message, 'git cat-file exited with 128')
    assert.equal(error.exitCode, 128)
    assert.deepEqual(error.args.slice(1), ['cat-file', '-p', oid])
    return true
  })
})

test('gives the process nothing but its own environment', async () => {
  const binary = await script('show-env', 'env')
  process.env.TRELLIS_TEST_SECRET = 'visible'
  const { stdout } = await createGit({ binary }).run('/a:b/c"d', {
    verb: 'any',
    protocolVersion: 2,
    quarantine: { objectsDir: '/q' },
    config: { 'http.extraHeader': 'secret' },
  })
  delete process.env.TRELLIS_TEST_SECRET
  const env = stdout.toString()
  assert.doesNotMatch(env, /TRELLIS/)
  assert.match(env, /^GIT_CONFIG_NOSYSTEM=1$/m)
  assert.match(env, /^GIT_PROTOCOL=version=2$/m)
  assert.match(env, /^GIT_OBJECT_DIRECTORY=\/q$/m)
  assert.match(env, /^GIT_ALTERNATE_OBJECT_DIRECTORIES="\/a:b\/c\\"d\/objects"$/m)
  assert.match(env, /^GIT_CONFIG_VALUE_\d=secret$/m)
})

test('reads stdin from bytes, from a stream and from a file', async () => {
  const hash = { verb: 'hash-object', options: ['--stdin'] } as const
  const expected = execFileSync('git', ['hash-object', '--stdin'], { input: Buffer.alloc(3 << 20, 'x') })
  assert.deepEqual((await git.run(repo, { ...hash, stdin: Buffer.alloc(3 << 20, 'x') })).stdout, expected)
  async function* chunks() {
    for (let i = 0; i < 48; i++) yield Buffer.alloc(1 << 16, 'x')
  }
  assert.deepEqual((await git.run(repo, { ...hash, stdin: chunks() })).stdout, expected)
  const file = join(root, 'its "$0" input')
  await writeFile(file, Buffer.alloc(3 << 20, 'x'))
  assert.deepEqual((await git.run(repo, { ...hash, stdin: { file } })).stdout, expected)
  await assert.rejects(git.run(repo, { ...hash, stdin: { file: `${file}, gone` } }), GitError)
})

test('asks the source for no more than git reads', async () => {
  const binary = await script('slow-reader', 'sleep 0.3; cat >/dev/null')
  let produced = 0
  async function* endless() {
    for (; produced < 1000; produced++) yield Buffer.alloc(1 << 16)
  }
  const running = createGit({ binary }).run(repo, { verb: 'x', stdin: endless() })
  await sleep(150)
  assert(produced < 20, `${produced} chunks were taken`)
  await running
  assert.equal(produced, 1000)
})

test('a git that stops reading is judged by its exit code and the source is told to stop', async () => {
  const binary = await script('no-reader', 'exit 3')
  let stopped = false
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(1 << 16)
    } finally {
      stopped = true
    }
  }
  await assert.rejects(createGit({ binary }).run(repo, { verb: 'x', stdin: endless() }), { exitCode: 3 })
  await sleep(10)
  assert(stopped)
})

test('a source that fails ends git and is the error', async () => {
  async function* broken() {
    yield Buffer.from('x')
    throw new Error('client went away')
  }
  const running = git.run(repo, { verb: 'hash-object', options: ['--stdin'], stdin: broken() })
  await assert.rejects(running, /client went away/)
})

test('bounds output by failing or by cutting', async () => {
  const command = { verb: 'cat-file', options: ['--batch-check'], stdin: 'x\n'.repeat(100_000) } as const
  await assert.rejects(git.run(repo, { ...command, maxBytes: 1000 }), { name: 'OutputTooLarge' })
  const cut = await git.run(repo, { ...command, maxBytes: 1000, truncate: true })
  assert.equal(cut.stdout.length, 1000)
  assert(cut.truncated)
})

test('keeps only the end of a long stderr', async () => {
  const binary = await script('noisy', 'head -c 1000000 /dev/zero | tr "\\0" x >&2; echo end >&2; exit 1')
  await assert.rejects(createGit({ binary }).run(repo, { verb: 'x' }), (error) => {
    assert(error instanceof GitError)
    assert.equal(error.stderr.length, 16 * 1024)
    assert(error.stderr.endsWith('end\n'))
    return true
  })
})

test('an abort ends the process and its children, even ones that ignore the polite signal', async () => {
  const binary = await script('stubborn', 'trap "" TERM; sleep 1234.5 & wait; sleep 1234.5')
  const controller = new AbortController()
  const pool = createPlaces({ size: 1 })
  const child = await createGit({ binary, pool }).start(repo, { verb: 'x', signal: controller.signal })
  await sleep(50)
  controller.abort(new Error('disconnected'))
  await assert.rejects(child.done, /disconnected/)
  assert.equal(pool.running, 0)
  assert.deepEqual(processesWith('1234.5'), [])
})

test('a timeout ends the process', async () => {
  const command = { verb: 'cat-file', options: ['--batch'], stdin: 'open', timeoutMs: 50 } as const
  await assert.rejects(git.run(repo, command), GitTimeout)
})

test('stopping a started process waits for its end and frees its slot', async () => {
  const pool = createPlaces({ size: 1 })
  const pooled = createGit({ pool })
  {
    await using child = await pooled.start(repo, { verb: 'cat-file', options: ['--batch'], stdin: 'open' })
    assert.equal(pool.running, 1)
    child.stdin?.write(`${EMPTY_TREE_OID}\n`)
    for await (const chunk of child.stdout) {
      assert.match(String(chunk), /tree 0/)
      break
    }
  }
  assert.equal(pool.running, 0)
})

test('a process whose output nobody reads can still be stopped, and readers learn why it ended', async () => {
  const binary = await script('talker', 'yes')
  const controller = new AbortController()
  const talkers = createGit({ binary })
  const unread = await talkers.start(repo, { verb: 'x' })
  await unread.stop()
  const read = await talkers.start(repo, { verb: 'x', signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 20)
  await assert.rejects(
    read.stdout.forEach(() => {}),
    /enough/,
  )
  const short = await git.start(repo, { verb: 'version' })
  await sleep(50)
  await short.stop()
})

test('a git that is not there is a GitError and frees the slot', async () => {
  const pool = createPlaces({ size: 1 })
  await assert.rejects(createGit({ binary: '/nonexistent/git', pool }).run(repo, { verb: 'x' }), GitError)
  assert.equal(pool.running, 0)
})

test('leaves no listeners on a signal that outlives the command', async () => {
  const { signal } = new AbortController()
  const warnings: unknown[] = []
  const listener = (warning: unknown) => warnings.push(warning)
  process.on('warning', listener)
  for (let i = 0; i < 15; i++) await git.run(repo, { verb: 'version', signal })
  await sleep(5)
  process.off('warning', listener)
  assert.deepEqual(warnings, [])
})

test('a file named like an option or a pattern is only a path', async () => {
  const work = join(root, 'work')
  await mkdir(work)
  execFileSync('git', ['init', '-q', work])
  for (const name of ['--all', '*', 'a']) await writeFile(join(work, name), name)
  execFileSync('git', ['-C', work, 'add', '-A'])
  const listed = async (path: string) => {
    const tree = parseTreePath(path)
    assert(tree)
    const out = await git.run(join(work, '.git'), { verb: 'ls-files', options: ['-z'], paths: [tree] })
    return out.stdout.toString()
  }
  assert.equal(await listed('--all'), '--all\0')
  assert.equal(await listed('*'), '*\0')
})

function processesWith(argument: string): string[] {
  const isNumber = (name: string) => /^\d+$/.test(name)
  return readdirSync('/proc')
    .filter(isNumber)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(argument)
      } catch {
        return false
      }
    })
}
