import { Worker } from 'node:worker_threads'
import { createPlaces, type PlaceOwner } from '../platform/places.ts'

/** Both are JSON. */
export interface SchemaQuestion {
  schema: string
  value: string
}

export interface SchemaAnswer {
  problem: string | undefined
}

/** For the schema and the value that anybody may have written. */
const LONGEST_MS = 2_000

export type SchemaChecks = ReturnType<typeof createSchemaChecks>

/** Holds values against schemas, in a thread of its own: what takes too long ends with it, and holds up no request. */
export function createSchemaChecks() {
  const places = createPlaces({ size: 1 })
  let idle: Worker | undefined

  /** Undefined when it takes too long, or more memory than it may. */
  function ask(worker: Worker, question: SchemaQuestion): Promise<SchemaAnswer | undefined> {
    const done = Promise.withResolvers<SchemaAnswer | undefined>()
    const giveUp = () => done.resolve(undefined)
    const late = setTimeout(giveUp, LONGEST_MS)
    worker.once('message', done.resolve).once('exit', giveUp)
    worker.postMessage(question)
    return done.promise.finally(() => {
      clearTimeout(late)
      worker.off('message', done.resolve).off('exit', giveUp)
    })
  }

  return {
    /** What is wrong with the value, or undefined. */
    async check(owner: PlaceOwner, question: SchemaQuestion): Promise<string | undefined> {
      using _place = await places.acquire(owner)
      const worker = idle ?? startWorker()
      idle = undefined
      const answer = await ask(worker, question)
      if (answer) idle = worker
      else await worker.terminate()
      return answer ? answer.problem : 'to hold it against the schema takes too much'
    },

    async close(): Promise<void> {
      await idle?.terminate()
    },
  }
}

function startWorker(): Worker {
  const worker = new Worker(new URL('./schema-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  })
  worker.unref()
  // What it does not answer is given up.
  worker.on('error', () => {})
  return worker
}
