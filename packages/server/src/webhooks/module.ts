import type { Registry } from 'prom-client'
import type { EventsService } from '../events/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import { createEgress } from '../platform/egress.ts'
import type { Log } from '../platform/log.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import type { Sealer } from '../secrets/sealing.ts'
import { createDeliveriesService } from './deliveries.ts'
import { createWebhookMetrics } from './metrics.ts'
import { createPruning } from './pruning.ts'
import { createRecorder } from './recorder.ts'
import { createSender } from './sender.ts'
import { createWebhooksService } from './service.ts'
import { createSigning } from './signing.ts'
import { createTransport } from './transport.ts'

interface WebhooksWiring {
  config: Config
  database: Database
  events: EventsService
  repos: ReposService
  sealer: Sealer
  registry: Registry
  clock: Clock
  log: Log
}

/** Everything about webhooks but the fan-out, put together. */
export function createWebhooks({
  config,
  database,
  events,
  repos,
  sealer,
  registry,
  clock,
  log,
}: WebhooksWiring) {
  const { retryMs, timeoutMs, concurrency, leaseMs, retentionMs } = config.webhooks
  const egress = createEgress(config.egressAllow)
  const signing = createSigning(sealer)
  const metrics = createWebhookMetrics({ registry, db: database.db, clock })
  const webhooks = createWebhooksService({
    database,
    events,
    repos,
    egress,
    signing,
    clock,
    limits: config.limits,
  })
  const sender = createSender({
    database,
    signing,
    transport: createTransport({ egress, timeoutMs }),
    recorder: createRecorder({ database }),
    metrics,
    clock,
    log,
    retryMs,
    concurrency,
    leaseMs,
    shutdownMs: config.shutdownMs,
    giveUp: async (id, reason) => {
      if (!(await webhooks.giveUp(id, reason))) return
      metrics.gaveUp(reason)
      log.warn('gave up on a webhook', { webhook: id, reason })
    },
  })
  const pruning = createPruning({ database, clock, log, retentionMs })

  return {
    webhooks,
    deliveries: createDeliveriesService({ database, repos, webhooks, clock, wake: sender.nudge }),
    wake: sender.nudge,
    async stop(): Promise<void> {
      await pruning.stop()
      await sender.stop()
    },
  }
}
