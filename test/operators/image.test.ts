// What the Dockerfile does, done without a container: the files it copies, the install it runs, the programs it starts.

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { join, matchesGlob, relative, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { useInSuite } from '@trellis/server/testing'
import { freePorts } from './proxy.ts'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

interface Instruction {
  word: string
  rest: string
}

/** The instructions of each stage. */
function readStages(): Instruction[][] {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean)
  const stages: Instruction[][] = []
  for (const line of lines) {
    const [word = ''] = line.split(' ')
    if (word === 'FROM') stages.push([])
    stages.at(-1)?.push({ word, rest: line.slice(word.length + 1) })
  }
  return stages
}

/** Whether the image may be made of it: the last rule that matches says so. */
function isGiven(path: string): boolean {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  const ancestors = path.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'))
  return rules.reduce((isSoFar, rule) => {
    const pattern = rule.replace(/^!/, '')
    return ancestors.some((each) => matchesGlob(each, pattern)) ? rule.startsWith('!') : isSoFar
  }, true)
}

async function copyInto(target: string, rest: string): Promise<void> {
  const words = rest.split(' ')
  const to = words.pop() ?? ''
  for (const word of words)
    await cp(
      join(root, word),
      to.endsWith('/') ? join(target, to, word.split('/').at(-1) ?? '') : join(target, to),
      {
        recursive: true,
        filter: (source) => isGiven(relative(root, source)),
      },
    )
}

/** What apt itself is linked with. */
const IN_EVERY_DEBIAN = ['libc6', 'libgcc-s1', 'libstdc++6']
const noLibrariesHere = existsSync('/usr/bin/dpkg') ? false : 'only Debian knows which package has a library'

const [build = [], image = []] = readStages()
const textOf = (word: string) => image.find((each) => each.word === word)?.rest ?? ''
const wordsOf = (word: string) => JSON.parse(textOf(word)) as string[]

describe('the image', () => {
  const made = useInSuite(async (stack) => {
    // On the disk, since there is a lot of it, and not below what is installed here, where it would find that.
    const scratch = await mkdtemp('/var/tmp/trellis-image-')
    stack.defer(() => rm(scratch, { recursive: true, force: true }))
    const app = join(scratch, 'app')
    await mkdir(app)
    const npm = await npmFor(app)
    for (const { word, rest } of build) {
      if (word === 'COPY') await copyInto(app, rest)
      if (word === 'RUN') await run('/bin/sh', ['-c', `${npm}\n${rest}`], { cwd: app, env: npmEnv() })
    }
    return { app, data: join(scratch, 'data') }
  })

  const envOf = (more: Record<string, string> = {}) => ({
    ...Object.fromEntries(
      textOf('ENV')
        .split(/\s+/)
        .map((pair) => {
          const [name = '', value = ''] = pair.split('=')
          return [name, value.replaceAll('/app/', `${made.app}/`)]
        }),
    ),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    TRELLIS_DATA: made.data,
    ...more,
  })
  const start = (args: string[], env: Record<string, string>): ChildProcess =>
    spawn(join(made.app, 'node_modules/.bin', args[0] ?? ''), args.slice(1), {
      cwd: made.app,
      env: envOf(env),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const ended = async (child: ChildProcess): Promise<number | null> => {
    const [code] = await once(child, 'exit')
    return code
  }

  it('has what it runs and nothing that is for development', async () => {
    const files = await readdir(made.app, { recursive: true })
    const own = files.filter((file) => !file.startsWith('node_modules'))
    assert.ok(own.includes('packages/server/src/main.ts') && own.includes('LICENSE'))
    assert.deepEqual(
      own.filter((file) => /\.test\.ts$|(^|\/)(testing|bench|\.git|docs)(\/|$)/.test(file)),
      [],
    )
    const { packages } = await readLock()
    for (const [path, { dev }] of Object.entries(packages))
      if (dev) assert.ok(!files.includes(path), `${path} is for development`)
  })

  it('installs what its Node is linked with', { skip: noLibrariesHere }, async () => {
    const env = { PATH: process.env.PATH }
    const { stdout } = await run('ldd', [join(made.app, 'node_modules/node/bin/node')], { env })
    const files = [...stdout.matchAll(/=> (\S+)/g)].map(([, file = '']) => file)
    assert.ok(files.length > 0, stdout)
    // Whether below /lib or /usr/lib: only one of them is the one that Debian's packages name.
    const owners = await run('dpkg', [
      '-S',
      ...files.map((file) => `*/${file.split('/').slice(-2).join('/')}`),
    ])
    const packages = owners.stdout.split('\n').flatMap((line) => /^([^:,]+):/.exec(line)?.[1] ?? [])
    const installed = /apt-get install (.*?) &&/.exec(textOf('RUN'))?.[1]?.split(' ') ?? []
    for (const name of packages) assert.ok([...IN_EVERY_DEBIAN, ...installed].includes(name), name)
  })

  it('starts, is found healthy, takes commands, and stops when it is told', async () => {
    const { trellis: port } = await freePorts()
    const env = { TRELLIS_LISTEN: `0.0.0.0:${port}`, TRELLIS_BASE_URL: 'https://git.example.com' }
    const check = JSON.parse(/CMD (\[.*\])/.exec(textOf('HEALTHCHECK'))?.[1] ?? '[]') as string[]
    assert.equal(await ended(start(check, env)), 1, 'nothing runs yet')

    const server = start(wordsOf('CMD'), env)
    let said = ''
    await new Promise<void>((resolve, reject) => {
      server.stderr?.on('data', (chunk) => {
        said += chunk
        if (said.includes('Trellis is at https://git.example.com')) resolve()
      })
      server.once('exit', () => reject(new Error(said)))
    })
    try {
      assert.equal(await ended(start(check, env)), 0, 'it runs')
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
      assert.equal(answer.status, 200)
      const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } })
      assert.match(await page.text(), /<div id="root">/, 'the console was built')
      assert.equal((await stat(made.data)).mode & 0o777, 0o700)
      assert.equal(await ended(start(['node', 'packages/server/src/admin.ts', 'users', 'list'], env)), 0)
    } finally {
      server.kill(textOf('STOPSIGNAL') as NodeJS.Signals)
    }
    assert.equal(await ended(server), 0)
  })

  it('starts what npm starts', async () => {
    const { scripts } = JSON.parse(await readFile(join(made.app, 'package.json'), 'utf8'))
    assert.ok(scripts.start.endsWith(` ${wordsOf('CMD').join(' ')}`), scripts.start)
  })

  it('runs as nobody in particular, keeps its data in a volume, and waits for its children', () => {
    assert.equal(textOf('USER'), 'trellis')
    assert.equal(textOf('VOLUME'), '/data')
    assert.deepEqual(wordsOf('ENTRYPOINT'), ['tini', '--'])
    assert.match(textOf('ENV'), /TRELLIS_DATA=\/data/)
    assert.match(image.map(({ rest }) => rest).join('\n'), /install -d -o trellis -g trellis -m 0700 \/data/)
  })
})

/**
 * To install takes a quarter of a minute of a processor, so what the lock does not call `dev` is linked from what is
 * installed here. With IMAGE_INSTALL=npm it is npm that does it.
 */
async function npmFor(app: string): Promise<string> {
  if (process.env.IMAGE_INSTALL === 'npm') return ''
  const wanted = Object.entries((await readLock()).packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link)
    .map(([path]) => path)
    .filter(
      (path, _, all) => existsSync(join(root, path)) && !all.some((other) => path.startsWith(`${other}/`)),
    )
  const lines = wanted.flatMap((path) => [
    `mkdir -p '${join(app, path, '..')}'`,
    `cp -al '${join(root, path)}' '${join(app, path)}' 2> /dev/null || cp -a '${join(root, path)}' '${join(app, path)}'`,
  ])
  const links = ['console', 'contract', 'extension', 'server'].map(
    (name) => `ln -s ../../packages/${name} ${app}/node_modules/@trellis/${name}`,
  )
  await run('/bin/sh', [
    '-c',
    [...lines, `mkdir -p ${app}/node_modules/@trellis ${app}/node_modules/.bin`, ...links].join('\n'),
  ])
  await symlink('../node/bin/node', join(app, 'node_modules/.bin/node'))
  return `npm() { case "$*" in 'ci --omit=dev') ;; 'run build') PATH=node_modules/.bin:$PATH node packages/console/build.ts ;; *) false ;; esac; }`
}

interface Lock {
  packages: Record<string, { dev?: boolean; link?: boolean }>
}

const readLock = async (): Promise<Lock> =>
  JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))

/** As npm is used on this machine, but for what the npm that runs the tests has told them. */
function npmEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|TRELLIS_|NODE_)/i.test(name))
  // The Node of the tests is in the way of the one that is to be installed.
  const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.endsWith('node_modules/.bin'))
  return { ...Object.fromEntries(own), PATH: path.join(':'), npm_config_prefer_offline: 'true' }
}
