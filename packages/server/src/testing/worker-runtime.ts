import { createHash } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Host, Job, LogLine, Outcome } from '../runtime/runtime.ts'
import { findConfinement } from '../runtime/worker/confinement.ts'
import { createWorkerRuntime, type WorkerRuntimeOptions } from '../runtime/worker/worker-runtime.ts'

interface ModuleRun extends Partial<Omit<Job, 'module'>> {
  sourceMap?: string
  call?: Host['call']
  signal?: AbortSignal
  onLine?: (line: LogLine) => void
}

let runs = 0

/** A worker runtime with small bounds, which goes with its processes and files when the stack does. */
export async function startWorkerRuntime(
  made: AsyncDisposableStack,
  options: Partial<WorkerRuntimeOptions> = {},
) {
  const confinement = await findConfinement()
  if ('reason' in confinement) throw new Error(confinement.reason)
  const directory = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-worker-'))).path
  const runtime = createWorkerRuntime({
    directory,
    ...confinement,
    processes: 3,
    processesPerOrg: 2,
    modulesPerProcess: 100,
    memoryMb: 64,
    callCharacters: 100_000,
    startMs: 30_000,
    idleMs: 60_000,
    waitMs: 30_000,
    graceMs: 100,
    outputCharacters: 10_000,
    inputCharacters: 10_000,
    log: { lines: 20, characters: 5_000, lineCharacters: 500 },
    ...options,
  })
  made.defer(() => runtime.close())

  async function run(
    code: string,
    { sourceMap, call = async () => null, signal = AbortSignal.any([]), onLine, ...job }: ModuleRun = {},
  ): Promise<Outcome & { lines: LogLine[] }> {
    const lines: LogLine[] = []
    const runId = job.runId ?? `run_${++runs}`
    const outcome = await runtime.run(
      {
        runId,
        orgId: 'org_1',
        repoId: 'repo_1',
        module: { hash: createHash('sha256').update(code).digest('hex'), code, sourceMap },
        input: {},
        run: { id: runId },
        capabilities: [],
        secrets: {},
        timeoutMs: 60_000,
        ...job,
      },
      {
        call,
        log(line) {
          lines.push(line)
          onLine?.(line)
        },
      },
      signal,
    )
    return { ...outcome, lines }
  }
  return { runtime, run, directory }
}
