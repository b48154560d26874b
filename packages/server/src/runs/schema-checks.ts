import { Worker } from 'node:worker_threads'
import { createPlaces, type PlaceOwner } from '../platform/places.ts'
import { createRecent } from '../platform/recent.ts'

/** Both are JSON. */
export interface SchemaQuestion {
  schema: string
  value: string
}

export interface SchemaAnswer {
  problem: string | undefined
}

/** Of processor time, for the schema and the value that anybody may have written: others may have the machine meanwhile. */
const LONGEST_MS = 2_000
const LOOK_EVERY_MS = 250
const PATIENCE_MS = 30_000
/** Whoever had one checked that took this long is not let in front of others again, for some time. */
const SLOW_MS = 250
const SLOW_FOR_MS = 10 * 60_000
const MOST_SLOW = 10_000

export type SchemaChecks = ReturnType<typeof createSchemaChecks>

/**
 * Holds values against schemas, in threads of its own: what takes too long ends with its thread, and holds up no request.
 * Organizations whose checks take long have one for themselves, so that others wait for one of them at most once.
 */
export function createSchemaChecks({ longestMs = LONGEST_MS }: { longestMs?: number } = {}) {
  const quick = createLane(longestMs)
  const slow = createLane(longestMs)
  /** Since when an organization is slow. */
  const slowSince = createRecent<string, number>({ maxEntries: MOST_SLOW })
  const isSlow = ({ id }: PlaceOwner) =>
    performance.now() - (slowSince.get(id) ?? Number.NEGATIVE_INFINITY) < SLOW_FOR_MS

  return {
    /** What is wrong with the value, or undefined. */
    async check(owner: PlaceOwner, question: SchemaQuestion): Promise<string | undefined> {
      const checked =
        (await quick.check(owner, question, () => !isSlow(owner))) ??
        (await slow.check(owner, question, () => true))
      if (checked && checked.ms >= SLOW_MS) slowSince.set(owner.id, performance.now())
      return checked?.problem
    },

    async close(): Promise<void> {
      await Promise.all([quick.close(), slow.close()])
    },
  }
}

interface Checked {
  problem?: string | undefined
  ms: number
}

/** One after the other, of one organization after the other. */
function createLane(longestMs: number) {
  const places = createPlaces({ size: 1 })
  let idle: Worker | undefined

  /** What it says next; undefined when it says nothing in time, takes too much for it, or has ended. */
  function next<T>(worker: Worker, most = PATIENCE_MS): Promise<T | undefined> {
    const said = Promise.withResolvers<T | undefined>()
    const giveUp = () => said.resolve(undefined)
    const late = setTimeout(giveUp, PATIENCE_MS)
    const before = cpuMs(worker)
    const look = setInterval(async () => {
      if ((await cpuMs(worker)) - (await before) > most) giveUp()
    }, LOOK_EVERY_MS)
    worker.once('message', said.resolve).once('exit', giveUp)
    return said.promise.finally(() => {
      clearTimeout(late)
      clearInterval(look)
      worker.off('message', said.resolve).off('exit', giveUp)
    })
  }

  /** Nobody's time is counted before it is ready. */
  async function start(): Promise<Worker> {
    const worker = startWorker()
    if (await next(worker)) return worker
    await worker.terminate()
    throw new Error('the thread that checks schemas does not start')
  }

  return {
    /** What is wrong with the value, and how much of a processor it took to find out. */
    async check(
      owner: PlaceOwner,
      question: SchemaQuestion,
      /** Asked before it waits, and again when it has. */
      mayEnter: () => boolean,
    ): Promise<Checked | undefined> {
      if (!mayEnter()) return undefined
      using _place = await places.acquire(owner)
      if (!mayEnter()) return undefined
      const worker = idle ?? (await start())
      idle = undefined
      const before = await cpuMs(worker)
      worker.postMessage(question)
      const answer = await next<SchemaAnswer>(worker, longestMs)
      if (!answer) {
        await worker.terminate()
        return { problem: 'to hold it against the schema takes too much', ms: longestMs }
      }
      idle = worker
      return { ...answer, ms: (await cpuMs(worker)) - before }
    },

    async close(): Promise<void> {
      await idle?.terminate()
    },
  }
}

/** Nothing, of one that has ended. */
const cpuMs = (worker: Worker): Promise<number> =>
  worker.cpuUsage().then(
    ({ user, system }) => (user + system) / 1000,
    () => 0,
  )

function startWorker(): Worker {
  const worker = new Worker(new URL('./schema-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  })
  worker.unref()
  // What it does not answer is given up.
  worker.on('error', () => {})
  return worker
}
