import { randomUUIDv7 } from 'node:crypto'
import type { Subscription } from '@trellis/contract'
import type { Author, EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import type { Egress } from '../platform/egress.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { dropIn } from './dropping.ts'
import * as lines from './line-store.ts'
import { listRefusals, parseReceiver } from './receivers.ts'
import type { Signing } from './signing.ts'
import * as store from './store.ts'
import { told } from './telling.ts'

/** A webhook as a commit declares it. */
export interface DeclaredWebhook {
  name: string
  url: string
  on: Subscription
  contentType: string
  /** Of the module that makes its bodies. */
  moduleHash: string | null
}

/** Why a webhook cannot come into force on this server, or in this repository. */
interface DeclaredProblem {
  webhook: string
  /** Whether it is about the URL, or about the name. */
  isUrl: boolean
  message: string
}

interface ChangedRow {
  type: `webhook.${'created' | 'updated' | 'orphaned' | 'deleted'}`
  row: store.WebhookRow
  /** It delivers to somewhere else, or again. */
  hasMoved: boolean
}

/** What became of the webhooks of a repository, by their names. */
type NamedChanges = Record<'added' | 'changed' | 'removed', string[]>

interface DeclaredChanges extends NamedChanges {
  rows: readonly ChangedRow[]
}

/** The webhooks of the repository are not what they were when somebody looked. */
export class StaleWebhooks extends Error {}

/** Webhooks that are not declared any more wait for their return. The oldest of more than so many are forgotten. */
const MAX_ORPHANS = 64
/**
 * When so many change at once each has an event of its own, and when more do none has: every one of them may listen to
 * the events of all, and whoever promoted them tells of all together.
 */
const TOLD_ONE_BY_ONE = 16
/** What the deliveries say that were pending then. */
export const ORPHANED = 'The repository does not declare this webhook any more'

export type DeclaredWebhooks = ReturnType<typeof createDeclaredWebhooks>

/** Webhooks that live in the repository: they come, change and go with what is promoted. */
export function createDeclaredWebhooks(deps: {
  database: Database
  events: EventsService
  egress: Egress
  signing: Signing
  clock: Clock
}) {
  const { database, events, egress, signing, clock } = deps

  async function createIn(tx: Tx, repo: RepoRow, declared: readonly DeclaredWebhook[]) {
    const now = clock()
    const created = await store.insertWebhooks(
      tx,
      declared.map(({ name, ...webhook }) => ({
        id: randomUUIDv7(),
        repo_id: repo.id,
        org_id: repo.org_id,
        name,
        declared: 1,
        ...columnsOf(webhook),
        status: 'active',
        active: 1,
        ...signing.first().columns,
        // Whoever asks for it first is given this one.
        secret_shown: 0,
        removed_at: null,
        created_at: now,
        updated_at: now,
      })),
    )
    if (created.length < declared.length) throw new StaleWebhooks()
    return created
  }

  async function updateIn(
    tx: Tx,
    { id }: store.WebhookRow,
    changes: Partial<store.WebhookRow>,
  ): Promise<store.WebhookRow> {
    const updated = await store.updateWebhook(tx, id, { ...changes, updated_at: clock() })
    if (!updated || updated.removed_at !== null) throw new StaleWebhooks()
    return updated
  }

  /** They wait for their return; the oldest of too many do not. */
  async function orphanIn(tx: Tx, unwanted: readonly store.WebhookRow[]) {
    const live = unwanted.filter(({ status }) => status === 'active')
    const ids = live.map(({ id }) => id)
    const removed = live.length > 0 ? await store.orphanWebhooks(tx, ids, clock()) : []
    if (removed.length < live.length) throw new StaleWebhooks()
    const earlier = unwanted.filter(({ status }) => status === 'orphaned')
    const forgotten = [...removed, ...earlier.toSorted((a, b) => b.updated_at - a.updated_at)].slice(
      MAX_ORPHANS,
    )
    const gone = forgotten.map(({ id }) => id)
    if (gone.length > 0) await store.hideWebhooks(tx, gone, clock())
    return { removed, forgotten }
  }

  return {
    /** All that speaks against these webhooks. Looks names up: not while a transaction is open. */
    async problems(repo: RepoRow, declared: readonly DeclaredWebhook[]): Promise<DeclaredProblem[]> {
      const made = new Set(
        (await store.listAllWebhooks(database.db, repo.id)).flatMap((row) =>
          row.declared === 0 ? row.name : [],
        ),
      )
      const refusals = await listRefusals(
        egress,
        declared.map(({ url }) => new URL(url)),
      )
      return declared.flatMap(({ name: webhook, url }) => {
        const refusal = refusals.get(new URL(url).hostname)
        const problems: DeclaredProblem[] = []
        if (made.has(webhook))
          problems.push({
            webhook,
            isUrl: false,
            message:
              'The repository has a webhook of that name which webhooks/create made: delete it, or choose another name',
          })
        if (refusal) problems.push({ webhook, isUrl: true, message: refusal })
        return problems
      })
    },

    /** What `changeIn` would do, by their names. */
    async changesTo(repo: RepoRow, declared: readonly DeclaredWebhook[]): Promise<NamedChanges> {
      const rows = await store.listAllWebhooks(database.db, repo.id)
      const { created, updated, unwanted } = compare(rows, declared)
      const returned = updated.filter(({ isBack }) => isBack)
      const names = (all: readonly { name: string }[]) => all.map(({ name }) => name).toSorted()
      return {
        added: names([...created, ...returned.map(({ row }) => row)]),
        changed: names(updated.flatMap(({ isBack, row }) => (isBack ? [] : row))),
        removed: names(unwanted.filter(({ status }) => status === 'active')),
      }
    },

    /**
     * Makes the declared webhooks of the repository these. The repository must be locked, and `tellIn` has to follow
     * when everything else is locked as well. Throws StaleWebhooks.
     */
    async changeIn(tx: Tx, repo: RepoRow, declared: readonly DeclaredWebhook[]): Promise<DeclaredChanges> {
      const found = compare(await store.listAllWebhooks(tx, repo.id), declared)
      const updated: ChangedRow[] = []
      const [changed, returned]: [string[], string[]] = [[], []]
      for (const { row, columns, isBack } of found.updated) {
        if (row.declared === 0) throw new StaleWebhooks()
        const after = await updateIn(tx, row, { ...columns, status: 'active' })
        updated.push({ type: 'webhook.updated', row: after, hasMoved: isBack || row.url !== after.url })
        if (isBack) returned.push(row.name)
        else changed.push(row.name)
      }
      const created = await createIn(tx, repo, found.created)
      const { removed, forgotten } = await orphanIn(tx, found.unwanted)
      return {
        added: [...returned, ...created.map(({ name }) => name)].toSorted(),
        changed,
        removed: removed.map(({ name }) => name).toSorted(),
        rows: [
          ...created.map((row) => ({ type: 'webhook.created' as const, row, hasMoved: false })),
          ...updated,
          ...removed.map((row) => ({ type: 'webhook.orphaned' as const, row, hasMoved: false })),
          ...forgotten.map((row) => ({ type: 'webhook.deleted' as const, row, hasMoved: false })),
        ],
      }
    },

    /** Tells of the changes, and has the lines follow them. */
    async tellIn(tx: Tx, author: Author, repo: RepoRow, rows: readonly ChangedRow[]): Promise<void> {
      const each = rows.length <= TOLD_ONE_BY_ONE ? rows : []
      await events.appendAll(
        tx,
        repoScope(repo.id),
        each.map(({ type, row }) => ({ ...told(author, row), type })),
      )
      await dropIn(
        tx,
        rows.flatMap(({ type, row }) => (type === 'webhook.orphaned' ? row.id : [])),
        ORPHANED,
      )
      // Another receiver has failed nobody yet.
      for (const { row, hasMoved } of rows)
        if (hasMoved)
          await lines.updateLine(tx, row.id, { origin: new URL(row.url).origin, failing_since: null })
    },

    /** Those of the hashes that are of modules which make bodies here. */
    modulesAmong: (hashes: readonly string[]): Promise<string[]> => store.listModules(database.db, hashes),
  }
}

/** The webhooks there are, held against those that are to be, by their names. */
function compare(rows: readonly store.WebhookRow[], declared: readonly DeclaredWebhook[]) {
  const known = new Map(rows.map((row) => [row.name, row]))
  const byName = declared.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const wanted = new Set(declared.map(({ name }) => name))
  return {
    created: byName.filter(({ name }) => !known.has(name)),
    updated: byName.flatMap(({ name, ...webhook }) => {
      const row = known.get(name)
      if (!row) return []
      const columns = columnsOf(webhook)
      const isBack = row.status === 'orphaned'
      const stays = row.declared === 1 && !isBack && isSame(row, columns)
      return stays ? [] : [{ row, columns, isBack }]
    }),
    unwanted: rows.filter((row) => row.declared === 1 && !wanted.has(row.name)),
  }
}

const columnsOf = ({ url, on, contentType, moduleHash }: Omit<DeclaredWebhook, 'name'>) => ({
  url: parseReceiver(url).href,
  subscription: JSON.stringify(on),
  content_type: contentType,
  module_hash: moduleHash,
})

type Columns = ReturnType<typeof columnsOf>

const isSame = (row: store.WebhookRow, columns: Columns): boolean =>
  Object.entries(columns).every(([column, value]) => row[column as keyof Columns] === value)
