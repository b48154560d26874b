import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Host, Job, Outcome, Runtime } from '../runtime.ts'
import { createStackReaders, type ReadStack } from '../stacks.ts'
import { createUnruly } from '../unruly.ts'
import { INSIDE, type Launch } from './command.ts'
import { countedBy, type Sandbox } from './find.ts'
import { runSession, type SessionLimits } from './session.ts'
import { type CheckOut, createTrees, type Tree, TreeRefused } from './trees.ts'

interface SandboxRuntimeOptions extends SessionLimits {
  sandbox: Sandbox
  checkOut: CheckOut
  openFiles: number
  /** Of trees that are kept for the next run of the same commit. */
  treeBytes: number
  trees: number
}

export interface SandboxRuntime extends Runtime {
  readonly running: number
  /** Trees that were checked out for a run, and those that were there. */
  readonly treeCounts: Readonly<{ made: number; found: number }>
  readonly treeBytes: number
}

/**
 * Runs modules under Node, each in namespaces of its own with the files of its commit, and as many at once as it is asked
 * to: whoever asks has a bound.
 */
export function createSandboxRuntime(options: SandboxRuntimeOptions): SandboxRuntime {
  const { sandbox, checkOut } = options
  const trees = createTrees({
    ...{ directory: join(sandbox.directory, 'trees'), checkOut, owner: sandbox.confinement.uid },
    maxBytes: options.treeBytes,
    maxTrees: options.trees,
  })
  const readStackOf = createStackReaders()
  const closing = new AbortController()
  const sessions = new Set<Promise<Outcome>>()
  const unruly = createUnruly()

  async function inTree(job: Job, host: Host, tree: Tree, signal: AbortSignal): Promise<Outcome> {
    const { groups, confinement, directory } = sandbox
    const diskBytes = options.diskMb * 2 ** 20
    const run = await mkdtemp(join(directory, 'runs', 'r-'))
    const group = await groups.open({
      memoryBytes: options.memoryMb * 2 ** 20 + diskBytes,
      processes: options.processes,
    })
    try {
      await mkdir(join(run, 'stage'))
      const launch: Launch = {
        ...{ ...sandbox, ...options, ...countedBy(groups), groups: group.joinFiles },
        // A copy is no doing of the run.
        diskBytes: diskBytes + (confinement.view === 'copy' ? tree.bytes : 0),
        run: `runs/${basename(run)}`,
        tree: `trees/${tree.name}`,
      }
      if (unruly.isBehind(job.orgId)) await group.giveWay()
      const outcome = await runSession({
        job,
        host,
        signal,
        launch,
        group,
        limits: options,
        readStack: withoutPlaces(readStackOf(job.module)),
      })
      if (outcome.kind === 'ended' && !signal.aborted) unruly.ended(job.orgId)
      return outcome
    } finally {
      await group.remove()
      await rm(run, { recursive: true, force: true })
    }
  }

  async function run(job: Job, host: Host, signal: AbortSignal): Promise<Outcome> {
    const { repoId, tree: commitSha } = job
    if (commitSha === undefined) throw new TypeError('A run in the sandbox is one of a commit')
    try {
      using tree = await trees.use({ repoId, commitSha }, signal)
      return await inTree(job, host, tree, signal)
    } catch (error) {
      if (signal.aborted) return { kind: 'not begun', reason: 'It was cancelled' }
      if (error instanceof TreeRefused) return { kind: 'ended', error: error.message }
      throw error
    }
  }

  return {
    get running() {
      return sessions.size
    },
    treeCounts: trees.counts,
    get treeBytes() {
      return trees.bytes
    },

    async run(job, host, signal) {
      const session = run(job, host, AbortSignal.any([signal, closing.signal]))
      sessions.add(session)
      try {
        return await session
      } finally {
        sessions.delete(session)
      }
    },

    async close() {
      closing.abort()
      await Promise.allSettled(sessions)
      await trees.close()
      await rm(sandbox.directory, { recursive: true, force: true })
    },
  }
}

/** Frames of Node itself tell an author nothing. */
const NOT_OURS = /\n +at [^\n]*\bnode:internal\/[^\n]*/g

/** Positions are told in the module, which has a place inside but is no file. */
function withoutPlaces(readStack: ReadStack): ReadStack {
  const beside = `file://${dirname(INSIDE.wrapper)}/`
  return (text) => readStack(text.replaceAll(beside, '').replaceAll(NOT_OURS, ''))
}
