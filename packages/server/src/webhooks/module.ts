import { type Bell, createBell } from '../background/bell.ts'
import { periodic } from '../background/periodic.ts'
import type { EventsService, Subscriber } from '../events/service.ts'
import type { ExtensionsService } from '../extensions/service.ts'
import type { Base, Ground, Module } from '../modules.ts'
import type { Egress } from '../platform/egress.ts'
import type { ReposService } from '../repos/service.ts'
import type { FoundRuntimes } from '../runtime/runtimes.ts'
import { createSealer } from '../secrets/sealing.ts'
import { createBodies } from './bodies.ts'
import { createDeclaredWebhooks, type DeclaredWebhooks } from './declared.ts'
import { createDeliveriesService } from './deliveries.ts'
import { createFanOut } from './fan-out.ts'
import { webhooksHandlers } from './handlers.ts'
import { createDroppedCounter, createWebhookMetrics } from './metrics.ts'
import { createPayloads, MADE_AT_ONCE } from './payloads.ts'
import { pruneDeliveries } from './pruning.ts'
import { createRecorder } from './recorder.ts'
import { redateDeliveries } from './redating.ts'
import { sendDeliveries } from './sending.ts'
import { createWebhooksService } from './service.ts'
import { createSigning, type Signing } from './signing.ts'
import { createTransport } from './transport.ts'

const PRUNE_EVERY_MS = 60 * 60_000
const REDATE_EVERY_MS = 60_000

interface WebhooksNeeds extends Base {
  events: EventsService
  repos: ReposService
  egress: Egress
  /** Undefined where extensions are switched off. */
  extensions: ExtensionsService | undefined
  /** What runs modules. */
  runtimes: FoundRuntimes
  signing: Signing
  /** Rung by the fan-out. */
  bell: Bell
}

/** Hears of events before anything else of webhooks exists: the bell is all that joins it to those who send. */
export function createWebhooksSubscriber({ config, database, registry, log }: Ground): {
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

/**
 * What promotions need before there is anything to deliver with. Declared webhooks follow what is promoted also while
 * nothing is delivered: what is in force would be wrong afterwards.
 */
export function createWebhooksFollowing(needs: Base & { events: EventsService; egress: Egress }): {
  signing: Signing
  declaredWebhooks: DeclaredWebhooks
} {
  const signing = createSigning(createSealer(needs.serverKey, 'webhook secrets'))
  return { signing, declaredWebhooks: createDeclaredWebhooks({ ...needs, signing }) }
}

export function createWebhooksModule(needs: WebhooksNeeds) {
  const { config, database, repos, clock, log, bell, egress, signing } = needs
  if (!config.webhooks.enabled)
    return { services: {}, handlers: { webhooks: webhooksHandlers(undefined) } } satisfies Module
  const { retryMs, timeoutMs, concurrency, leaseMs, retentionMs } = config.webhooks
  const metrics = createWebhookMetrics({ registry: needs.registry, db: database.db, clock })
  const transport = createTransport({ egress, timeoutMs })
  const worker = needs.runtimes.openApart(MADE_AT_ONCE)
  const makeBody = createPayloads({ ...needs, worker, concurrency, onAsked: metrics.askedForBody })
  const webhooks = createWebhooksService({ ...needs, signing, limits: config.limits })
  const deliveries = createDeliveriesService({ database, repos, webhooks, clock, wake: bell.ring })

  return {
    services: {},
    handlers: { webhooks: webhooksHandlers({ webhooks, deliveries }) },
    work: [
      sendDeliveries({
        database,
        signing,
        transport,
        recorder: createRecorder({ database }),
        bodies: createBodies({ database, clock, makeBody }),
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
    async close() {
      await Promise.all([transport.close(), worker?.close()])
    },
  } satisfies Module
}
