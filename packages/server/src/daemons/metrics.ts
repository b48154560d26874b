import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../schema.ts'
import { countByStatus, findFirstDue } from './store.ts'

export type DaemonMetrics = ReturnType<typeof createDaemonMetrics>

/** How waking goes, for Prometheus. How many daemons there are is that of all processes together. */
export function createDaemonMetrics({ registry, db, clock }: { registry: Registry; db: Db; clock: Clock }) {
  const wakes = new Counter({
    name: 'trellis_daemon_wakes_total',
    help: 'Wakes of daemons, by why: schedule, events or manual',
    labelNames: ['reason'],
    registers: [registry],
  })
  const passed = new Counter({
    name: 'trellis_daemon_wakes_passed_total',
    help: 'Wakes that were due and came to no run, by why',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const lateness = new Histogram({
    name: 'trellis_daemon_lateness_seconds',
    help: 'How long after they were due daemons were woken',
    buckets: [0.1, 0.5, 1, 2, 5, 15, 60, 300],
    registers: [registry],
  })
  new Gauge({
    name: 'trellis_daemon_overdue_seconds',
    help: 'For how long the daemon has been due that is due for the longest',
    registers: [registry],
    async collect() {
      const due = await findFirstDue(db)
      this.set(due === undefined ? 0 : Math.max(0, clock() - due) / 1000)
    },
  })
  new Gauge({
    name: 'trellis_daemons',
    help: 'Daemons, by status',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      for (const [status, count] of Object.entries(await countByStatus(db))) this.set({ status }, count)
    },
  })
  return {
    woken: (reason: string) => wakes.inc({ reason }),
    passed: (outcome: string) => passed.inc({ outcome }),
    late: (ms: number) => lateness.observe(Math.max(0, ms) / 1000),
  }
}
