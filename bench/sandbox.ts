import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseOid } from '../packages/server/src/git/names.ts'
import { checkOutTree } from '../packages/server/src/git/objects/checkout.ts'
import { createGit, openRepo } from '../packages/server/src/git/process/command.ts'
import { findSandbox, type Sandbox } from '../packages/server/src/runtime/sandbox/find.ts'
import {
  createSandboxRuntime,
  type SandboxRuntime,
} from '../packages/server/src/runtime/sandbox/sandbox-runtime.ts'
import { inTurns, milliseconds, type Row } from './measure.ts'
import { makeScratch } from './scratch.ts'

const ROUNDS = 15
const FILES = 15_000
const LIMITS = {
  ...{ startMs: 60_000, graceMs: 2_000, openFiles: 1024 },
  ...{ memoryMb: 1024, diskMb: 512, processes: 256, treeBytes: 2 ** 31, trees: 10 },
  ...{ outputCharacters: 1e6, callCharacters: 1e6, writtenBytes: 64 * 2 ** 20 },
  log: { lines: 1_000, characters: 1e6, lineCharacters: 10_000 },
}
/** Nothing but the least that a program needs, with the files of the machine. */
const BARE = [
  '--unshare-all',
  '--die-with-parent',
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--proc',
  '/proc',
  '--',
]

/** Everything around a run, against Node in bubblewrap and nothing around it. */
export const sandboxRun = () =>
  onStage(async ({ sandbox, runtime }) => {
    const args = [...BARE, sandbox.node, '-e', '']
    const bare = async () => timed(async () => void execFileSync(sandbox.confinement.bubblewrap, args))
    await run(runtime, 'few')
    const { ours, theirs } = await inTurns(ROUNDS, () => timed(() => run(runtime, 'few')), bare)
    return {
      work: 'a run in the sandbox, its tree in the cache',
      peer: "bwrap node -e ''",
      ...{ ours: milliseconds(ours), theirs: milliseconds(theirs), ratio: theirs / ours, goal: 0.5 },
    }
  })

/** A writable tree of many files, laid over the one that is kept, against a copy of it. */
export const sandboxTree = () =>
  onStage(async ({ runtime, copying }) => {
    const checkOut = [await timed(() => run(runtime, 'many')), await timed(() => run(copying, 'many'))]
    const { ours, theirs } = await inTurns(
      ROUNDS,
      () => timed(() => run(runtime, 'many')),
      () => timed(() => run(copying, 'many')),
    )
    process.stderr.write(`  with the check-out of ${FILES} files: ${checkOut.map(milliseconds).join(', ')}\n`)
    return {
      work: `a run in the sandbox with ${FILES} files, overlay`,
      peer: 'the same with a copy',
      ...{ ours: milliseconds(ours), theirs: milliseconds(theirs), ratio: theirs / ours, goal: 2 },
    }
  })

interface Stage {
  sandbox: Sandbox
  runtime: SandboxRuntime
  copying: SandboxRuntime
}

async function onStage(measure: (stage: Stage) => Promise<Row>): Promise<Row | undefined> {
  await using made = new AsyncDisposableStack()
  const directory = await makeScratch('sandbox')
  const found = async (name: string) => findSandbox({ directory: join(directory, name), hidden: [] })
  const [sandbox, other] = [await found('one'), await found('two')]
  if (!sandbox.available || !other.available) return undefined
  const gitDir = join(directory, 'repo.git')
  const commits: Record<string, string> = makeCommits(gitDir)
  const runtimeOf = (sandbox: Sandbox) => {
    const runtime = createSandboxRuntime({
      ...{ ...LIMITS, sandbox },
      async checkOut({ commitSha }, directory, signal) {
        const commit = parseOid(commits[commitSha] ?? '')
        if (!commit) throw new Error('no such commit')
        const repo = openRepo(createGit(), gitDir, { signal })
        await checkOutTree(repo, { commit, directory, maxBytes: 2 ** 30, maxFiles: 100_000 })
      },
    })
    made.defer(() => runtime.close())
    return runtime
  }
  const copying: Sandbox = { ...other, confinement: { ...other.confinement, view: 'copy' } }
  return await measure({ sandbox, runtime: runtimeOf(sandbox), copying: runtimeOf(copying) })
}

function makeCommits(gitDir: string) {
  execFileSync('git', ['init', '-q', '--bare', gitDir])
  const commit = (name: string, files: number): string => {
    const paths = Array.from(
      { length: files },
      (_, i) => `M 100644 inline d${i % 100}/e${i % 7}/f${i}\ndata 300\n${'x'.repeat(300)}\n`,
    )
    const input = `commit refs/heads/${name}\ncommitter A <a@b.c> 1700000000 +0000\ndata 1\nm\n${paths.join('')}\n`
    execFileSync('git', ['fast-import', '--quiet'], { cwd: gitDir, input })
    return execFileSync('git', ['rev-parse', name], { cwd: gitDir, encoding: 'utf8' }).trim()
  }
  return { few: commit('few', 10), many: commit('many', FILES) }
}

async function run(runtime: SandboxRuntime, commitSha: string): Promise<void> {
  const code = 'export default () => {}'
  const job = {
    ...{
      runId: 'run_1',
      orgId: 'org_1',
      repoId: 'repo_1',
      module: { hash: code, code, sourceMap: undefined },
    },
    ...{ input: {}, tree: commitSha, run: { commitSha }, capabilities: [], secrets: {}, timeoutMs: 60_000 },
  }
  const host = { call: async () => null, log: () => {} }
  const outcome = await runtime.run(job, host, new AbortController().signal)
  if (outcome.kind !== 'returned') throw new Error(JSON.stringify(outcome))
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
