import type { Hold } from '../background/leased.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../schema.ts'
import type { Bodies } from './bodies.ts'
import { pauseLine } from './body-store.ts'
import { ORPHANED } from './declared.ts'
import { dropIn } from './dropping.ts'
import * as lines from './line-store.ts'
import type { WebhookMetrics } from './metrics.ts'
import type { Recorder, Report } from './recorder.ts'
import { GIVE_UP_AFTER_MS, nextAttemptAt } from './schedule.ts'
import type { Signing } from './signing.ts'
import * as store from './store.ts'
import type { Attempt, Transport } from './transport.ts'

/** Why the service stops a webhook. */
export type GivenUp = 'gone' | 'failing'

export interface LineWorkerDeps {
  database: Database
  signing: Signing
  transport: Transport
  recorder: Recorder
  bodies: Bodies
  metrics: WebhookMetrics
  clock: Clock
  retryMs: readonly number[]
  giveUp(webhookId: string, reason: GivenUp): Promise<void>
}

const BATCH = 100
/** What was read longer ago may have been dropped, or the webhook disabled. */
const FRESH_MS = 1_000
/** Others may be waiting for a place. */
const TURN_MS = 10_000

/** Delivers what is due in one line, one after the other and in order, and gives the line back. */
export async function workLine(deps: LineWorkerDeps, hold: Hold, taken: store.LineRow): Promise<void> {
  const { database, clock } = deps
  const { db } = database
  const webhookId = taken.webhook_id
  const turnEnds = performance.now() + TURN_MS

  while (hold.isHeld()) {
    const line = await lines.findHeldLine(db, { webhookId, workerId: hold.workerId })
    const webhook = line && (await store.findWebhookById(db, webhookId))
    if (!line || !webhook) return
    const mayGoOn = !hold.isStopping() && performance.now() < turnEnds
    const due = mayGoOn ? await lines.listDue(db, { webhookId, now: clock(), limit: BATCH }) : []
    if (due.length === 0) {
      const next = (await lines.findNext(db, webhookId))?.due_at ?? null
      if (await database.transact((tx) => lines.releaseLine(tx, line, hold.workerId, next))) return
      continue
    }
    // Somebody asked for it in the moment the webhook was orphaned.
    if (webhook.status === 'orphaned') {
      await database.transact((tx) => dropIn(tx, [webhookId], ORPHANED))
      continue
    }

    const { givenUp, pauseMs } = await deliver(deps, hold, { webhook, due, failingSince: line.failing_since })
    if (givenUp) await deps.giveUp(webhookId, givenUp)
    if (pauseMs === undefined) continue
    const until = clock() + Math.ceil(pauseMs)
    await database.transact((tx) => pauseLine(tx, { webhookId, workerId: hold.workerId, until }))
    return
  }
}

async function deliver(
  deps: LineWorkerDeps,
  hold: Hold,
  {
    webhook,
    due,
    failingSince,
  }: { webhook: store.WebhookRow; due: lines.DueDelivery[]; failingSince: number | null },
): Promise<{ givenUp?: GivenUp; pauseMs?: number }> {
  const { bodies, clock, metrics, recorder, transport } = deps
  const sign = deps.signing.signersOf(webhook)
  const readAt = performance.now()
  const isFresh = () => performance.now() - readAt <= FRESH_MS
  let since = failingSince
  try {
    for (const delivery of due) {
      if (!hold.isHeld() || hold.isStopping() || !isFresh()) return {}
      const { ready, pauseMs } = await bodies.ensure(webhook, delivery, hold.abort)
      if (pauseMs !== undefined) return { pauseMs }
      if (!ready) continue
      const { body, bytes } = ready
      // To make it may have taken long.
      if (delivery.made === 0 && !isFresh()) return {}
      const headers = {
        'content-type': webhook.content_type,
        'user-agent': 'Trellis-Webhooks/1',
        ...sign({ id: delivery.id, now: clock(), body }),
      }
      const attempt = await transport.post({ url: webhook.url, headers, body }, hold.abort)
      const report = judge(deps, { webhook, delivery, bytes, attempt, failingSince: since })
      const { status } = report.outcome
      metrics.attempted(status === 'pending' ? 'retry' : status, attempt.durationMs)
      recorder.record(report)
      if (report.failingSince !== undefined) since = report.failingSince
      const givenUp = webhook.active === 1 ? reasonToGiveUp(attempt, since, clock()) : undefined
      if (givenUp) return { givenUp }
    }
    return {}
  } finally {
    await recorder.settle()
  }
}

function judge(
  { clock, retryMs }: LineWorkerDeps,
  {
    webhook,
    delivery,
    bytes,
    attempt,
    failingSince,
  }: {
    webhook: store.WebhookRow
    delivery: lines.DueDelivery
    bytes: number
    attempt: Attempt
    failingSince: number | null
  },
): Report {
  const now = clock()
  const delivered = isSuccess(attempt)
  // A webhook that is off is tried only when somebody asks for it, and then once.
  const mayRetry = !delivered && attempt.status !== GONE && webhook.active === 1
  const dueAt = mayRetry
    ? nextAttemptAt({ webhookId: webhook.id, attempts: delivery.attempt + 1, now }, retryMs)
    : null
  return {
    webhookId: webhook.id,
    bytes,
    failingSince: delivered
      ? failingSince === null
        ? undefined
        : null
      : failingSince === null || failingSince > now
        ? now
        : undefined,
    outcome: {
      id: delivery.id,
      status: delivered ? 'success' : dueAt === null ? 'failed' : 'pending',
      dueAt,
      responseStatus: attempt.status,
      responseBody: attempt.body,
      error: attempt.error,
      durationMs: attempt.durationMs,
      deliveredAt: delivered ? now : null,
    },
  }
}

const GONE = 410

const isSuccess = ({ status }: Attempt) => status !== null && status >= 200 && status < 300

function reasonToGiveUp(attempt: Attempt, failingSince: number | null, now: number): GivenUp | undefined {
  if (attempt.status === GONE) return 'gone'
  return failingSince !== null && now - failingSince >= GIVE_UP_AFTER_MS ? 'failing' : undefined
}
