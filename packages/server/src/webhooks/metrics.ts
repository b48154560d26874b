import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../schema.ts'
import { measureBacklog } from './line-store.ts'

export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>

/** What was never tried. Counted where events are written, before there is anybody who delivers. */
export function createDroppedCounter(registry: Registry): (deliveries: number) => void {
  const dropped = new Counter({
    name: 'trellis_webhook_dropped_total',
    help: 'Deliveries dropped because too much was pending for their webhook',
    registers: [registry],
  })
  return (deliveries) => dropped.inc(deliveries)
}

/** How delivering goes, for Prometheus. The backlog is that of all processes together. */
export function createWebhookMetrics({ registry, db, clock }: { registry: Registry; db: Db; clock: Clock }) {
  const attempts = new Counter({
    name: 'trellis_webhook_attempts_total',
    help: 'Attempts to deliver, by how they ended: success, retry, or failed for good',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'trellis_webhook_attempt_duration_seconds',
    help: 'How long receivers took to answer',
    buckets: [0.01, 0.05, 0.25, 1, 5, 15],
    registers: [registry],
  })
  const disabled = new Counter({
    name: 'trellis_webhooks_given_up_total',
    help: 'Webhooks the service stopped by itself, by why',
    labelNames: ['reason'],
    registers: [registry],
  })
  const bodies = new Counter({
    name: 'trellis_webhook_bodies_total',
    help: 'Bodies that payload modules were to make, by what came of it: made, dropped, or to be tried again',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const oldest = new Gauge({
    name: 'trellis_webhook_backlog_oldest_seconds',
    help: 'Age of the oldest delivery that is pending',
    registers: [registry],
  })
  new Gauge({
    name: 'trellis_webhook_backlog',
    help: 'Deliveries that are pending',
    registers: [registry],
    async collect() {
      const backlog = await measureBacklog(db)
      this.set(backlog.pending)
      oldest.set(backlog.oldest === null ? 0 : Math.max(0, clock() - backlog.oldest) / 1000)
    },
  })
  return {
    attempted(outcome: string, ms: number): void {
      attempts.inc({ outcome })
      durations.observe(ms / 1000)
    },
    askedForBody: (outcome: 'made' | 'dropped' | 'later') => bodies.inc({ outcome }),
    gaveUp: (reason: string) => disabled.inc({ reason }),
  }
}
