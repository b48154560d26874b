import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../schema.ts'
import { LANES } from './lanes.ts'
import { countUnderWay, measureQueues, type RunRow } from './store.ts'

/** How running goes, for Prometheus. What waits and what runs is that of all processes together. */
export function createRunMetrics({ registry, db, clock }: { registry: Registry; db: Db; clock: Clock }) {
  const ended = new Counter({
    name: 'trellis_runs_total',
    help: 'Runs that ended here, by how they ended and in which runtime',
    labelNames: ['outcome', 'runtime'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'trellis_run_duration_seconds',
    help: 'How long runs took, from when they were begun',
    labelNames: ['runtime'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 600],
    registers: [registry],
  })
  new Gauge({
    name: 'trellis_runs_running',
    help: 'Runs that are under way',
    registers: [registry],
    async collect() {
      this.set((await countUnderWay(db)).running)
    },
  })
  new Gauge({
    name: 'trellis_runs_sleeping',
    help: 'Workflows that wait for their time or for an event',
    registers: [registry],
    async collect() {
      this.set((await countUnderWay(db)).sleeping)
    },
  })
  new Gauge({
    name: 'trellis_runs_queued',
    help: 'Runs that wait, by lane: those for a sandbox, and all others',
    labelNames: ['lane'],
    registers: [registry],
    async collect() {
      const queues = await measureQueues(db)
      for (const lane of LANES) this.set({ lane }, queues.get(lane)?.count ?? 0)
    },
  })
  new Gauge({
    name: 'trellis_runs_queued_oldest_seconds',
    help: 'Age of the oldest run that waits, by lane',
    labelNames: ['lane'],
    registers: [registry],
    // Each asks for itself: they are read at the same time.
    async collect() {
      const queues = await measureQueues(db)
      const ageOf = (since: number | undefined) => (since === undefined ? 0 : Math.max(0, clock() - since))
      for (const lane of LANES) this.set({ lane }, ageOf(queues.get(lane)?.oldest) / 1000)
    },
  })
  return {
    ended({ status, runtime, started_at }: RunRow): void {
      ended.inc({ outcome: status, runtime })
      if (started_at !== null) durations.observe({ runtime }, Math.max(0, clock() - started_at) / 1000)
    },
  }
}
