import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Runtime as RuntimeName } from '@trellis/contract'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import type { Scratch } from '../platform/scratch.ts'
import type { Runtime, Runtimes } from './runtime.ts'
import { findSandbox, type Sandbox } from './sandbox/find.ts'
import { createSandboxRuntime } from './sandbox/sandbox-runtime.ts'
import type { CheckOut } from './sandbox/trees.ts'
import { findBubblewrap, findWorkerd } from './worker/confinement.ts'
import { createWorkerRuntime, type WorkerRuntimeOptions } from './worker/worker-runtime.ts'

/** Of the input and of the output of a run, as JSON. */
const VALUE_CHARACTERS = 2 * 1024 * 1024
/** Isolates that one process has had in all. */
const MODULES_PER_PROCESS = 100
/** Of a call on `ctx`, and of its answer: no more goes between isolates. */
const CALL_CHARACTERS = 31 * 2 ** 20
const START_MS = 30_000
const IDLE_MS = 60_000
const WAIT_MS = 30_000
const GRACE_MS = 1_000
const LINE_CHARACTERS = 16 * 1024
const OPEN_FILES = 1_024
const TREES = 100
/** What a sandbox may write to stdout and stderr, most of which is not kept. */
const WRITTEN_BYTES = 64 * 1024 * 1024

/** What this machine can run modules with. */
export interface FoundRuntimes {
  names: ReadonlySet<RuntimeName>
  /** Nothing is started before the first run. */
  open(checkOut: CheckOut): Runtimes
  /** Beside those, another worker runtime of so many processes. */
  openApart(processes: number): Runtime | undefined
}

interface FindDeps {
  config: Config
  dataDir: string
  scratch: Scratch
  log: Log
}

/** It takes a process to find out, and stays so. */
let probe: Promise<string | undefined> | undefined

export async function findRuntimes(deps: FindDeps): Promise<FoundRuntimes> {
  if (!deps.config.extensions.enabled)
    return { names: new Set(), open: () => ({}), openApart: () => undefined }
  const [openWorker, sandbox] = await Promise.all([findWorker(deps), findEnabledSandbox(deps)])
  return {
    names: new Set<RuntimeName>([
      ...(openWorker ? (['worker', 'workflow'] as const) : []),
      ...(sandbox ? (['sandbox'] as const) : []),
    ]),
    open(checkOut) {
      const worker = openWorker?.({
        // Whoever is given a place in the queue finds one here, whoever else there is.
        processes: Math.max(1, deps.config.runs.concurrency),
        processesPerOrg: deps.config.runs.perOrg,
      })
      return {
        ...(worker && { worker, workflow: worker }),
        ...(sandbox && { sandbox: openSandbox(deps.config, sandbox, checkOut) }),
      }
    },
    openApart: (processes) => openWorker?.({ processes, processesPerOrg: processes }),
  }
}

async function findWorker({ config, scratch, log }: FindDeps) {
  const { runs } = config
  const workerd = findWorkerd()
  if (!workerd) {
    log.warn(
      'there is no workerd for this machine: extensions of the worker and workflow runtimes cannot run',
    )
    return undefined
  }
  probe ??= findBubblewrap(workerd)
  const bubblewrap = await probe
  if (!bubblewrap)
    log.warn('bubblewrap is not there, or may not be used: workerd runs without its confinement')
  const directory = join(scratch.path, 'worker')
  await mkdir(directory, { mode: 0o700 })
  return (places: Pick<WorkerRuntimeOptions, 'processes' | 'processesPerOrg'>) =>
    createWorkerRuntime({
      ...places,
      directory,
      workerd,
      bubblewrap,
      // An endless loop or too much memory ends a process with all that is in it: that is to be nobody else's run.
      runsPerProcess: 1,
      modulesPerProcess: MODULES_PER_PROCESS,
      memoryMb: runs.memoryMb,
      callCharacters: CALL_CHARACTERS,
      startMs: START_MS,
      idleMs: IDLE_MS,
      waitMs: WAIT_MS,
      graceMs: GRACE_MS,
      outputCharacters: VALUE_CHARACTERS,
      inputCharacters: VALUE_CHARACTERS,
      log: logBounds(config),
    })
}

async function findEnabledSandbox({ config, dataDir, scratch, log }: FindDeps): Promise<Sandbox | undefined> {
  if (!config.extensions.sandbox) return undefined
  const found = await findSandbox({ directory: join(scratch.path, 'sandbox'), hidden: [dataDir] })
  if (found.available) return found
  log.warn('extensions of the sandbox runtime cannot run here', { reason: found.reason })
  return undefined
}

const openSandbox = (config: Config, sandbox: Sandbox, checkOut: CheckOut) =>
  createSandboxRuntime({
    ...config.sandbox,
    sandbox,
    checkOut,
    trees: TREES,
    openFiles: OPEN_FILES,
    startMs: START_MS,
    graceMs: GRACE_MS,
    outputCharacters: VALUE_CHARACTERS,
    callCharacters: CALL_CHARACTERS,
    writtenBytes: WRITTEN_BYTES,
    log: logBounds(config),
  })

const logBounds = ({ runs }: Config) => ({
  lines: 10_000,
  characters: 2 * runs.logBytes,
  lineCharacters: LINE_CHARACTERS,
})
