import type { Webhook, WebhookDelivery } from '@trellis/contract'
import type { Generated, Insertable, Selectable, Updateable } from 'kysely'
import { prepared } from '../db/prepared.ts'
import type { Db, Tx } from '../schema.ts'

interface WebhooksTable {
  id: string
  repo_id: string
  org_id: string
  name: string
  url: string
  /** JSON: what it listens to. */
  subscription: string
  content_type: string
  /** Whether a file of the repository declares it. */
  declared: Generated<number>
  /** Of the module that makes the body, for a webhook declared in the repository with one. */
  module_hash: string | null
  status: Webhook['status']
  active: number
  /** JSON: sealed secrets, the current one first, then those that still sign beside it. */
  secrets: string
  secret_prefix: string
  secret_shown: number
  /** Its repository is gone; it stays until what is pending has been delivered. */
  removed_at: number | null
  created_at: number
  updated_at: number
}

interface LinesTable {
  webhook_id: string
  /** Scheme, host and port of the receiver. */
  origin: string
  /** When somebody has to look at the line; null when nothing waits. */
  next_due_at: number | null
  /** Counts what was put into the line, so that nobody leaves it believing it empty. */
  wakes: Generated<number>
  /** Who works at the line. */
  worker_id: string | null
  failing_since: number | null
  /** What waits in it. */
  pending_bytes: Generated<number>
}

interface MessagesTable {
  id: string
  body: string
  digest: string
  created_at: number
}

interface DeliveriesTable {
  id: string
  webhook_id: string
  webhook_name: string
  repo_id: string
  message_id: string
  /** 0 when the message is the event, and a module is yet to make the body of it. */
  made: Generated<number>
  /** Of the body and of what is written beside it. */
  bytes: Generated<number>
  event_type: string
  subject: string | null
  /** Of the event, in the log of its repository. */
  seq: number
  status: WebhookDelivery['status']
  /** How many were made. */
  attempt: number
  /** Of the next attempt; null when there is none. */
  due_at: number | null
  response_status: number | null
  response_body: string | null
  /** Why there was no answer. */
  error: string | null
  duration_ms: number | null
  created_at: number
  delivered_at: number | null
}

export interface WebhookTables {
  webhooks: WebhooksTable
  webhook_lines: LinesTable
  webhook_messages: MessagesTable
  webhook_deliveries: DeliveriesTable
}

export type WebhookRow = Selectable<WebhooksTable>
export type LineRow = Selectable<LinesTable>
export type DeliveryRow = Selectable<DeliveriesTable>
export type MessageRow = Selectable<MessagesTable>
/** A delivery with the beginning of its body, unless that was not kept. */
export type ShownDeliveryRow = DeliveryRow & { digest: string | null; body_start: string | null }

/** How much of a body is shown. */
export const SHOWN_CHARACTERS = 4096

const ofRepo = (q: Db, repoId: string) =>
  q.selectFrom('webhooks').selectAll().where('repo_id', '=', repoId).where('removed_at', 'is', null)

export const findWebhook = (q: Db, repoId: string, name: string): Promise<WebhookRow | undefined> =>
  ofRepo(q, repoId).where('name', '=', name).executeTakeFirst()

const byId = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('webhooks').selectAll().where('id', '=', id),
)

export async function findWebhookById(q: Db, id: string): Promise<WebhookRow | undefined> {
  const [webhook] = await byId(q, { id })
  return webhook
}

export const listWebhooks = (
  q: Db,
  { repoId, after, limit }: { repoId: string; after: string; limit: number },
): Promise<WebhookRow[]> => ofRepo(q, repoId).where('name', '>', after).orderBy('name').limit(limit).execute()

/** However many there are: whoever makes them is held to a number. */
export const listAllWebhooks = (q: Db, repoId: string): Promise<WebhookRow[]> =>
  ofRepo(q, repoId).orderBy('name').execute()

/** How many somebody made, beside those the repository declares. */
export async function countWebhooks(q: Db, repoId: string): Promise<number> {
  const { count } = await q
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('repo_id', '=', repoId)
    .where('removed_at', 'is', null)
    .where('declared', '=', 0)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Gives those that were made: not those whose name the repository has a webhook of. */
export async function insertWebhooks(
  tx: Tx,
  rows: readonly Insertable<WebhooksTable>[],
): Promise<WebhookRow[]> {
  if (rows.length === 0) return []
  const made = await tx
    .insertInto('webhooks')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['repo_id', 'name']).where('removed_at', 'is', null).doNothing(),
    )
    .returningAll()
    .execute()
  if (made.length > 0)
    await tx
      .insertInto('webhook_lines')
      .values(made.map(({ id, url }) => ({ webhook_id: id, origin: new URL(url).origin })))
      .execute()
  return made
}

/** Locks the row until the transaction ends. Undefined when it is gone. */
export const updateWebhook = (
  tx: Tx,
  id: string,
  changes: Updateable<WebhooksTable>,
): Promise<WebhookRow | undefined> =>
  tx.updateTable('webhooks').set(changes).where('id', '=', id).returningAll().executeTakeFirst()

/** Undefined when it was not active, or is gone. */
export const deactivate = (tx: Tx, id: string, now: number): Promise<WebhookRow | undefined> =>
  tx
    .updateTable('webhooks')
    .set({ active: 0, updated_at: now })
    .where('id', '=', id)
    .where('active', '=', 1)
    .returningAll()
    .executeTakeFirst()

/** Gives those that were there, and declared until now. */
export const orphanWebhooks = (tx: Tx, ids: readonly string[], now: number): Promise<WebhookRow[]> =>
  tx
    .updateTable('webhooks')
    .set({ status: 'orphaned', updated_at: now })
    .where('id', 'in', [...ids])
    .where('status', '=', 'active')
    .where('removed_at', 'is', null)
    .returningAll()
    .execute()

/** Takes webhooks out of sight, and gives how many: not those that were, nor those the repository declares. */
export async function hideWebhooks(tx: Tx, ids: readonly string[], now: number): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('webhooks')
    .set({ removed_at: now })
    .where('id', 'in', [...ids])
    .where('removed_at', 'is', null)
    .where((eb) => eb.or([eb('declared', '=', 0), eb('status', '=', 'orphaned')]))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** What is left of its deliveries goes with it. */
export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('webhooks').where('id', '=', id).execute()
}

/** Takes the webhooks of a repository that has gone out of sight. */
export async function removeWebhooks(tx: Tx, repoId: string, now: number): Promise<void> {
  await tx
    .updateTable('webhooks')
    .set({ removed_at: now })
    .where('repo_id', '=', repoId)
    .where('removed_at', 'is', null)
    .execute()
}

/** Those of the hashes that are of modules which make bodies. */
export async function listModules(q: Db, hashes: readonly string[]): Promise<string[]> {
  const rows = await q
    .selectFrom('webhooks')
    .select('module_hash')
    .distinct()
    .where('module_hash', 'in', [...hashes])
    .execute()
  return rows.flatMap(({ module_hash }) => module_hash ?? [])
}

/** A webhook that hears of what happens, with what every body says about its repository. */
export const listListening = prepared((db: Db, { repoId }: { repoId: string }) =>
  db
    .selectFrom('webhooks')
    .innerJoin('webhook_lines', 'webhook_lines.webhook_id', 'webhooks.id')
    .leftJoin('repos', 'repos.id', 'webhooks.repo_id')
    .leftJoin('orgs', 'orgs.id', 'webhooks.org_id')
    .select(['webhooks.id', 'webhooks.name', 'webhooks.subscription', 'webhooks.module_hash'])
    .select('webhook_lines.pending_bytes')
    .select(['repos.name as repo_name', 'orgs.slug as owner'])
    .where('webhooks.repo_id', '=', repoId)
    .where('webhooks.removed_at', 'is', null)
    .where('webhooks.active', '=', 1)
    .where('webhooks.status', '=', 'active'),
)

const shown = (q: Db) =>
  q
    .selectFrom('webhook_deliveries')
    .leftJoin('webhook_messages', 'webhook_messages.id', 'webhook_deliveries.message_id')
    .selectAll('webhook_deliveries')
    .select('webhook_messages.digest')
    .select((eb) =>
      eb
        .fn<string | null>('substr', ['webhook_messages.body', eb.lit(1), eb.lit(SHOWN_CHARACTERS)])
        .as('body_start'),
    )

export const findDelivery = (q: Db, repoId: string, id: string): Promise<ShownDeliveryRow | undefined> =>
  shown(q)
    .where('webhook_deliveries.id', '=', id)
    .where('webhook_deliveries.repo_id', '=', repoId)
    .executeTakeFirst()

interface DeliveryPage {
  repoId: string
  webhookId?: string | undefined
  status?: WebhookDelivery['status'] | undefined
  before?: string | undefined
  limit: number
}

const STATUSES: readonly WebhookDelivery['status'][] = ['pending', 'success', 'failed', 'dropped']

/** The newest first. Each status is asked for by itself, so that no page goes through all of another. */
export async function listDeliveries(
  q: Db,
  { repoId, webhookId, status, before, limit }: DeliveryPage,
): Promise<ShownDeliveryRow[]> {
  const ids: string[] = []
  for (const wanted of status ? [status] : STATUSES) {
    let query = q.selectFrom('webhook_deliveries').select('id').where('status', '=', wanted)
    query = webhookId ? query.where('webhook_id', '=', webhookId) : query.where('repo_id', '=', repoId)
    if (before) query = query.where('id', '<', before)
    for (const { id } of await query.orderBy('id', 'desc').limit(limit).execute()) ids.push(id)
  }
  if (ids.length === 0) return []
  const page = ids.sort().reverse().slice(0, limit)
  return shown(q)
    .where('webhook_deliveries.id', 'in', page)
    .orderBy('webhook_deliveries.id', 'desc')
    .execute()
}

/** Ends everything that waits for these webhooks, and gives how many bytes that was for each. */
export async function dropPending(
  tx: Tx,
  webhookIds: readonly string[],
  reason?: string,
): Promise<Map<string, number>> {
  const dropped = await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'dropped', due_at: null, ...(reason && { error: reason }) })
    .where('webhook_id', 'in', [...webhookIds])
    .where('status', '=', 'pending')
    .returning(['webhook_id', 'bytes'])
    .execute()
  const sums = new Map<string, number>()
  for (const { webhook_id, bytes } of dropped) sums.set(webhook_id, (sums.get(webhook_id) ?? 0) + bytes)
  return sums
}
