import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { Clock, Stopwatch } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Registry } from '../platform/metrics.ts'
import { DatabaseUnavailable } from '../platform/outages.ts'
import { watchSteadiness } from '../platform/steadiness.ts'
import type { UnderWay } from '../platform/under-way.ts'
import type { Database } from '../schema.ts'
import { periodic } from './periodic.ts'
import type { Running, Tools, Work } from './work.ts'
import { deleteForgotten } from './workers.ts'

interface BackgroundDeps {
  database: Database
  clock: Clock
  stopwatch: Stopwatch
  log: Log
  registry: Registry
  underWay: UnderWay
  shutdownMs: number
}

/** Beyond the time work is given to stop: what does not heed that is left behind. */
const IMPATIENCE_MS = 1_000
/** Long after nobody can be taken for alive any more. */
const WORKERS_KEPT_MS = 60 * 60_000

/** Starts everything that goes on beside the requests. Each is logged, measured, and stopped with the server. */
export function startBackground(works: readonly Work[], deps: BackgroundDeps) {
  const { database, clock, stopwatch, log, registry, underWay, shutdownMs } = deps
  const measure = createMeasure({ registry, clock, underWay })
  const tools: Tools = {
    database,
    clock,
    stopwatch,
    isSteady: watchSteadiness({ clock, stopwatch }),
    log,
    shutdownMs,
    complain(message, { error, ...about }) {
      // Each piece of work notices an outage, again and again. Whoever opened the database tells of it, once.
      if (error instanceof DatabaseUnavailable) log.debug(message, { ...about, reason: error.message })
      else log.error(message, { ...about, error })
    },
    async attempt(name, work, { signal, item } = {}) {
      const ended = measure(name)
      try {
        await work()
        ended('success')
        return true
      } catch (error) {
        // What was told to stop may end however it likes.
        const isFailure = !signal?.aborted
        ended(isFailure ? 'failure' : 'stopped')
        if (isFailure) tools.complain('background work failed', { work: name, ...(item && { item }), error })
        return false
      }
    },
  }
  const forgetting = periodic({
    name: 'forget silent workers',
    everyMs: 60 * 60_000,
    where: 'one process',
    run: () => database.transact((tx) => deleteForgotten(tx, { now: clock(), keptMs: WORKERS_KEPT_MS })),
  })

  const running = new Map<string, Running>()
  for (const work of [...works, forgetting]) {
    if (running.has(work.name)) throw new Error(`Two pieces of background work are called ${work.name}`)
    running.set(work.name, work.start(tools))
  }

  return {
    /** Does one piece of work now, and once. */
    async run(name: string): Promise<void> {
      const run = running.get(name)?.run
      if (!run) throw new Error(`There is no background work called ${name} that can be run`)
      await run()
    },

    /** Stops everything, within the time that is given for it. */
    async stop(): Promise<void> {
      const left = new Set(running.keys())
      const all = [...running].map(async ([name, { stop }]) => {
        await stop()
        left.delete(name)
      })
      await Promise.race([Promise.all(all), sleep(shutdownMs + IMPATIENCE_MS, undefined, { ref: false })])
      if (left.size > 0) log.warn('background work did not stop in time', { work: [...left] })
    },
  }
}

/** Counts and times each piece of work, for Prometheus. */
function createMeasure({
  registry,
  clock,
  underWay,
}: Pick<BackgroundDeps, 'registry' | 'clock' | 'underWay'>) {
  const labelNames = ['work'] as const
  const registers = [registry]
  const durations = new Histogram({
    name: 'trellis_background_duration_seconds',
    help: 'How long pieces of background work took',
    labelNames,
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers,
  })
  const runs = new Counter({
    name: 'trellis_background_runs_total',
    help: 'Pieces of background work, by how they ended: success, failure, or stopped with the server',
    labelNames: ['work', 'outcome'],
    registers,
  })
  const running = new Gauge({
    name: 'trellis_background_running',
    help: 'Pieces of background work under way now',
    labelNames,
    registers,
  })
  const succeeded = new Gauge({
    name: 'trellis_background_last_success_timestamp_seconds',
    help: 'When background work last succeeded in this process',
    labelNames,
    registers,
  })
  return (work: string) => {
    const activity = underWay.begin({ route: `background: ${work}` })
    running.inc({ work })
    return (outcome: 'success' | 'failure' | 'stopped'): void => {
      running.dec({ work })
      durations.observe({ work }, underWay.end(activity) / 1000)
      runs.inc({ work, outcome })
      if (outcome === 'success') succeeded.set({ work }, clock() / 1000)
    }
  }
}
