// Runs the test files named on the command line, or all of them: `node test/run.ts 'packages/**/orgs*.test.ts'`.

import { glob, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { bundlePackages } from './bundled-packages.ts'
import { bundleServer, SERVER } from './bundled-server.ts'
import { PACKAGES } from './light-packages.ts'
import { makeRoomInMemory } from './memory.ts'
import { globalSetup as startCluster, globalTeardown as stopCluster } from './postgres-cluster.ts'

/** The long ones first, so that the last to end is not one of them. */
const EVERYTHING = ['test/**/*.test.ts', 'packages/**/*.test.ts']
/** The pages of the console in a browser take four minutes more: `npm run test:console`. */
const APART = 'test/console/pages/**'
/**
 * To load the server takes most of a second of CPU, and to get warm more, so files share a process: many of those beside
 * the code, and fewer of those that take long, so that the work is spread to the end.
 */
const filesAProcess = (pattern: string): number => (pattern.startsWith('packages/') ? 16 : 6)
/** A process that has become large starts every other more slowly. */
const ALONE = ['test/git/many-refs.test.ts', 'test/git/other-clients.test.ts']
/** More than there are cores, since some wait. */
const AT_ONCE = 4
/** Of a test or a hook. No other takes a third of it, and one that never ends is to be told by its name. */
const HANGS_MS = 300_000

const root = resolve(import.meta.dirname, '..')
const interrupted = new AbortController()

/** Files in groups, each of which runs in a process of its own. */
async function groups(patterns: string[]): Promise<string[][]> {
  const made: string[][] = []
  for (const pattern of patterns) {
    const exclude = patterns === EVERYTHING ? [APART] : []
    const files = (await Array.fromAsync(glob(pattern, { cwd: root, exclude }))).toSorted()
    if (files.length === 0) throw new Error(`No test file is ${pattern}`)
    made.push(...files.filter((file) => ALONE.includes(file)).map((file) => [file]))
    const shared = files.filter((file) => !ALONE.includes(file))
    // Neighbours are often alike, and many long ones in one process would be what the others wait for.
    const processes = Math.ceil(shared.length / filesAProcess(pattern))
    for (let n = 0; n < processes; n++) made.push(shared.filter((_, i) => i % processes === n))
  }
  return made
}

/**
 * What a process runs: each file in a suite of its own, so that its hooks are its own as well. Required, not imported:
 * a file then is read to its end while its suite is being made.
 */
const program = (files: string[]): string =>
  [
    `import { createRequire } from 'node:module'`,
    `import { after, describe } from 'node:test'`,
    `import { endSoon } from ${JSON.stringify(pathToFileURL(join(root, 'test', 'ending.ts')).href)}`,
    `after(endSoon)`,
    `const require = createRequire(${JSON.stringify(pathToFileURL(join(root, 'package.json')).href)})`,
    ...files.map((file) => `describe('${file}', () => void require('./${file}'))`),
    '',
  ].join('\n')

/** Gives whether all of them passed. */
async function runAll(groups: string[][]): Promise<boolean> {
  await using programs = await mkdtempDisposable(join(tmpdir(), 'trellis-tests-'))
  const files: string[] = []
  for (const group of groups) {
    // What goes wrong outside of any test is reported under this name.
    const name = `${group.map((file) => basename(file, '.test.ts')).join('+')}.mjs`
    const file = join(programs.path, `${files.length + 1}-${name}`)
    await writeFile(file, program(group))
    files.push(file)
  }
  process.env[PACKAGES] = await bundlePackages()
  process.env[SERVER] = await bundleServer()
  const execArgv = ['light-hooks.ts', 'light-packages.ts'].flatMap((file) => [
    '--import',
    pathToFileURL(join(root, 'test', file)).href,
  ])
  const tests = run({
    files,
    cwd: root,
    concurrency: AT_ONCE,
    execArgv,
    signal: interrupted.signal,
    timeout: HANGS_MS,
  })
  let passed = true
  tests.on('test:fail', () => {
    passed = false
  })
  const report = tests.compose(spec)
  report.pipe(process.stdout)
  await finished(report)
  return passed
}

// Whoever interrupts it is not left with a PostgreSQL.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interrupted.abort())

const given = process.argv.slice(2)
const found = await groups(given.length > 0 ? given : EVERYTHING)
// Whoever names a place gets it.
await using inMemory = process.env.TMPDIR ? undefined : await makeRoomInMemory()
if (inMemory) process.env.TMPDIR = inMemory.path
await startCluster()
try {
  if (!(await runAll(found))) process.exitCode = 1
} finally {
  await stopCluster()
}
