import { type Bell, createBell } from '../background/bell.ts'
import { periodic } from '../background/periodic.ts'
import type { EventsService, Subscriber } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import type { Egress } from '../platform/egress.ts'
import type { ReposService } from '../repos/service.ts'
import { createSealer } from '../secrets/sealing.ts'
import { createBodies, makeNothing } from './bodies.ts'
import { createDeclaredWebhooks } from './declared.ts'
import { createDeliveriesService } from './deliveries.ts'
import { createFanOut } from './fan-out.ts'
import { webhooksHandlers } from './handlers.ts'
import { createDroppedCounter, createWebhookMetrics } from './metrics.ts'
import { pruneDeliveries } from './pruning.ts'
import { createRecorder } from './recorder.ts'
import { redateDeliveries } from './redating.ts'
import { sendDeliveries } from './sending.ts'
import { createWebhooksService } from './service.ts'
import { createSigning } from './signing.ts'
import { createTransport } from './transport.ts'

const PRUNE_EVERY_MS = 60 * 60_000
const REDATE_EVERY_MS = 60_000

interface WebhooksNeeds extends Base {
  events: EventsService
  repos: ReposService
  egress: Egress
  /** Rung by the fan-out. */
  bell: Bell
}

/** Hears of events before anything else of webhooks exists: the bell is all that joins it to those who send. */
export function createWebhooksSubscriber({ config, database, registry, log }: Base): {
  bell: Bell
  subscribers: Subscriber[]
} {
  const bell = createBell()
  if (!config.webhooks.enabled) return { bell, subscribers: [] }
  const countDropped = createDroppedCounter(registry)
  const fanOut = createFanOut({
    database,
    maxPendingBytes: config.limits.pendingBytesPerWebhook,
    wake: bell.ring,
    onDropped(webhooks, deliveries) {
      countDropped(deliveries)
      log.warn('dropped deliveries: too much is pending already', { webhooks, deliveries })
    },
  })
  return { bell, subscribers: [fanOut] }
}

export function createWebhooksModule(needs: WebhooksNeeds) {
  const { config, database, repos, clock, log, bell, egress } = needs
  const signing = createSigning(createSealer(needs.serverKey, 'webhook secrets'))
  // Follow what is promoted also while nothing is delivered: what is in force would be wrong afterwards.
  const services = { declaredWebhooks: createDeclaredWebhooks({ ...needs, signing }) }
  if (!config.webhooks.enabled)
    return { services, handlers: { webhooks: webhooksHandlers(undefined) } } satisfies Module
  const { retryMs, timeoutMs, concurrency, leaseMs, retentionMs } = config.webhooks
  const metrics = createWebhookMetrics({ registry: needs.registry, db: database.db, clock })
  const transport = createTransport({ egress, timeoutMs })
  const webhooks = createWebhooksService({ ...needs, signing, limits: config.limits })
  const deliveries = createDeliveriesService({ database, repos, webhooks, clock, wake: bell.ring })

  return {
    services,
    handlers: { webhooks: webhooksHandlers({ webhooks, deliveries }) },
    work: [
      sendDeliveries({
        database,
        signing,
        transport,
        recorder: createRecorder({ database }),
        bodies: createBodies({ database, clock, makeBody: makeNothing }),
        metrics,
        clock,
        retryMs,
        concurrency,
        leaseMs,
        bell,
        giveUp: async (id, reason) => {
          if (!(await webhooks.giveUp(id, reason))) return
          metrics.gaveUp(reason)
          log.warn('gave up on a webhook', { webhook: id, reason })
        },
      }),
      periodic({
        name: 'webhook pruning',
        everyMs: PRUNE_EVERY_MS,
        where: 'one process',
        atStart: true,
        deletesByClock: true,
        run: (signal) => pruneDeliveries({ database, clock, retentionMs }, signal),
      }),
      periodic({
        name: 'misdated deliveries',
        everyMs: REDATE_EVERY_MS,
        where: 'one process',
        atStart: true,
        run: () => redateDeliveries({ database, clock, retryMs, wake: bell.ring }),
      }),
    ],
    close: () => transport.close(),
  } satisfies Module
}
