import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Runtime as RuntimeName } from '@trellis/contract'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import type { Registry } from '../platform/metrics.ts'
import type { Scratch } from '../platform/scratch.ts'
import { measureSandbox, measureWorker } from './metrics.ts'
import type { Runtime, Runtimes } from './runtime.ts'
import { findSandbox, type Sandbox } from './sandbox/find.ts'
import { createSandboxRuntime } from './sandbox/sandbox-runtime.ts'
import type { CheckOut } from './sandbox/trees.ts'
import { findConfinement } from './worker/confinement.ts'
import {
  createWorkerRuntime,
  type WorkerRuntime,
  type WorkerRuntimeOptions,
} from './worker/worker-runtime.ts'

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

/** Runtimes that are not there, and what to do about it. */
interface RuntimesOff {
  names: readonly RuntimeName[]
  reason: string
  /** Somebody wants it so. */
  isBySetting: boolean
}

/** What this machine can run modules with. */
export interface FoundRuntimes {
  names: ReadonlySet<RuntimeName>
  off: readonly RuntimesOff[]
  /** Nothing is started before the first run. */
  open(checkOut: CheckOut): Runtimes
  /** Beside those, another worker runtime of so many processes. */
  openApart(processes: number): Runtime | undefined
}

type WorkerPlaces = Pick<WorkerRuntimeOptions, 'processes' | 'processesPerOrg'>

interface FindDeps {
  config: Config
  dataDir: string
  scratch: Scratch
  registry: Registry
  log: Log
}

const IN_WORKERD = ['worker', 'workflow'] as const satisfies RuntimeName[]
const IN_SANDBOX = ['sandbox'] as const satisfies RuntimeName[]

export async function findRuntimes(deps: FindDeps): Promise<FoundRuntimes> {
  const { config, registry, log } = deps
  if (!config.extensions.enabled) {
    const names = [...IN_WORKERD, ...IN_SANDBOX]
    return {
      names: new Set(),
      off: [switchedOff(names, 'TRELLIS_EXTENSIONS')],
      open: () => ({}),
      openApart: () => undefined,
    }
  }
  const [worker, sandbox] = await Promise.all([findWorker(deps), findEnabledSandbox(deps)])
  const off = [worker, sandbox].filter(isOff)
  for (const { names, reason, isBySetting } of off)
    if (!isBySetting) log.warn('runtimes of extensions are off', { runtimes: names.join(), reason })
  return {
    names: new Set([...(isOff(worker) ? [] : IN_WORKERD), ...(isOff(sandbox) ? [] : IN_SANDBOX)]),
    off,
    open(checkOut) {
      const opened = isOff(worker)
        ? undefined
        : worker.open({
            // Whoever is given a place in the queue finds one here, whoever else there is.
            processes: Math.max(1, config.runs.concurrency),
            processesPerOrg: config.runs.perOrg,
          })
      const sandboxes = isOff(sandbox) ? undefined : openSandbox(config, sandbox, checkOut)
      if (opened) measureWorker(registry, opened)
      if (sandboxes) measureSandbox(registry, sandboxes)
      return { ...(opened && { worker: opened, workflow: opened }), ...(sandboxes && { sandbox: sandboxes }) }
    },
    openApart: (processes) =>
      isOff(worker) ? undefined : worker.open({ processes, processesPerOrg: processes }),
  }
}

const isOff = (found: object): found is RuntimesOff => 'reason' in found

const switchedOff = (names: readonly RuntimeName[], setting: string): RuntimesOff => ({
  names,
  reason: `${setting} is off. To turn it on: ${setting}=on, then start again`,
  isBySetting: true,
})

/** It takes a process to find out, and stays so. */
let probe: ReturnType<typeof findConfinement> | undefined

async function findWorker({
  config,
  scratch,
  log,
}: FindDeps): Promise<{ open(places: WorkerPlaces): WorkerRuntime } | RuntimesOff> {
  const { runs } = config
  probe ??= findConfinement()
  const found = await probe
  if ('reason' in found) return { names: IN_WORKERD, reason: found.reason, isBySetting: false }
  const { workerd, bubblewrap } = found
  if (!bubblewrap)
    log.warn('bubblewrap is not there, or may not be used: workerd runs without its confinement')
  const directory = join(scratch.path, 'worker')
  await mkdir(directory, { mode: 0o700 })
  const open = (places: WorkerPlaces) =>
    createWorkerRuntime({
      ...places,
      directory,
      workerd,
      bubblewrap,
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
  return { open }
}

async function findEnabledSandbox({ config, dataDir, scratch }: FindDeps): Promise<Sandbox | RuntimesOff> {
  if (!config.extensions.sandbox) return switchedOff(IN_SANDBOX, 'TRELLIS_SANDBOX')
  const found = await findSandbox({ directory: join(scratch.path, 'sandbox'), hidden: [dataDir] })
  return found.available ? found : { names: IN_SANDBOX, reason: found.reason, isBySetting: false }
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
