import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import type { Scratch } from '../platform/scratch.ts'
import type { Runtimes } from './runtime.ts'
import { findBubblewrap, findWorkerd } from './worker/confinement.ts'
import { createWorkerRuntime } from './worker/worker-runtime.ts'

/** Of the input and of the output of a run, as JSON. */
const VALUE_CHARACTERS = 2 * 1024 * 1024
/** Each takes some 60 MB. The second is for what the first is too busy for. */
const PROCESSES_PER_ORG = 2
/** Isolates that one process has had in all. */
const MODULES_PER_PROCESS = 100
const START_MS = 30_000
const IDLE_MS = 60_000
const WAIT_MS = 30_000
const GRACE_MS = 1_000
const LINE_CHARACTERS = 16 * 1024

/** It takes a process to find out, and stays so. */
let probe: Promise<string | undefined> | undefined

/** What this machine can run modules with. Nothing is started before the first run. */
export async function findRuntimes({
  config,
  scratch,
  log,
}: {
  config: Config
  scratch: Scratch
  log: Log
}): Promise<Runtimes> {
  const { runs, limits, extensions } = config
  if (!extensions.enabled) return {}
  const workerd = findWorkerd()
  if (!workerd) {
    log.warn(
      'there is no workerd for this machine: extensions of the worker and workflow runtimes cannot run',
    )
    return {}
  }
  probe ??= findBubblewrap(workerd)
  const bubblewrap = await probe
  if (!bubblewrap)
    log.warn('bubblewrap is not there, or may not be used: workerd runs without its confinement')
  const directory = join(scratch.path, 'worker')
  await mkdir(directory, { mode: 0o700 })
  const worker = createWorkerRuntime({
    directory,
    workerd,
    bubblewrap,
    processes: Math.max(PROCESSES_PER_ORG, Math.ceil(runs.concurrency / 2)),
    processesPerOrg: PROCESSES_PER_ORG,
    runsPerProcess: runs.perOrg,
    modulesPerProcess: MODULES_PER_PROCESS,
    memoryMb: runs.memoryMb,
    callCharacters: 2 * limits.commitBodyBytes,
    startMs: START_MS,
    idleMs: IDLE_MS,
    waitMs: WAIT_MS,
    graceMs: GRACE_MS,
    outputCharacters: VALUE_CHARACTERS,
    inputCharacters: VALUE_CHARACTERS,
    log: { lines: 10_000, characters: 2 * runs.logBytes, lineCharacters: LINE_CHARACTERS },
  })
  return { worker, workflow: worker }
}
