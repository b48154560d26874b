import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { insideSource } from '../inside-source.ts'
import type { Job, Runtime } from '../runtime.ts'
import { createStackReaders } from '../stacks.ts'
import { createPool, NoProcess, type PoolCounts, type PoolOptions } from './pool.ts'
import { FILES } from './settings.ts'
import { type StayLimits, stay } from './stay.ts'

export interface WorkerRuntimeOptions extends PoolOptions, StayLimits {
  /** Of the input, as JSON. */
  inputCharacters: number
}

export interface WorkerRuntime extends Runtime {
  readonly counts: Readonly<PoolCounts>
  readonly processes: number
  readonly isolates: number
  /** Runs that wait for a place in a process. */
  readonly waiting: number
}

/** Runs modules in isolates of workerd. One is used again by runs of the same module, repository and capabilities. */
export function createWorkerRuntime(options: WorkerRuntimeOptions): WorkerRuntime {
  const pool = createPool(options, insideSources())
  const stackReaderOf = createStackReaders()

  return {
    counts: pool.counts,
    get processes() {
      return pool.processes
    },
    get isolates() {
      return pool.isolates
    },
    get waiting() {
      return pool.waiting
    },

    async run(job, host, signal) {
      if (signal.aborted) return { kind: 'not begun', reason: 'It was cancelled' }
      if ((JSON.stringify(job.input) ?? '').length > options.inputCharacters)
        return {
          kind: 'ended',
          error: `The input is larger than ${options.inputCharacters} characters of JSON`,
        }
      const key = isolateOf(job)
      try {
        const house = await pool.take({ orgId: job.orgId, key }, signal)
        try {
          return await stay({
            house,
            key,
            job,
            host,
            signal,
            limits: options,
            readStack: stackReaderOf(job.module),
          })
        } finally {
          pool.giveBack(house)
        }
      } catch (error) {
        if (error instanceof NoProcess) return { kind: 'not begun', reason: error.message }
        throw error
      }
    },

    close: () => pool.close(),
  }
}

/** Whatever must not be found again by another run. The organization has processes of its own. */
function isolateOf({ module, repoId, capabilities, workflow }: Job): string {
  const parts = [module.hash, repoId, workflow !== undefined, ...capabilities.toSorted()]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** Made when the first process is started. */
function insideSources(): () => Promise<Record<string, string>> {
  const inside = (name: string) => insideSource(join(import.meta.dirname, 'inside', name))
  let made: Promise<Record<string, string>> | undefined
  const make = async () => ({
    [FILES.porter]: await inside('porter.ts'),
    [FILES.wrapper]: await inside('wrapper.ts'),
  })
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}
