import { bySystem, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { FollowsPromotion } from '../extensions/promotion.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import { dueAfter, intervalMs, tickAfter } from './scheduling.ts'
import * as store from './store.ts'

interface FollowingDeps {
  events: EventsService
  clock: Clock
  newId: NewId
  maxPerOrg: number
}

type Extensions = Parameters<FollowsPromotion>[2]
type Declared = Extensions[number] & { daemon: { scheduleIntervalMinutes: number } }

/** Of organizations that cost nothing to make. */
const PROVISIONAL_SHARE = 1 / 50

const fresh = {
  failures: 0,
  quarantined_until: null,
  retry_at: null,
  worker_id: null,
  run_id: null,
  wake_reason: null,
  wake_to: null,
  wake_count: 0,
  last_wake_at: null,
  last_wake_outcome: null,
  last_wake_detail: null,
  last_run_id: null,
  last_run_status: null,
  last_run_ended_at: null,
  consumed_at: null,
  consumed_detail: null,
  pending_from: null,
  pending_count: 0,
}

/** Has the daemons of a repository be those of the commit that comes into force. */
export function createDaemonsFollowing({ events, clock, newId, maxPerOrg }: FollowingDeps): FollowsPromotion {
  const declaredIn = (extensions: Extensions): Declared[] =>
    extensions.flatMap((extension) => {
      const { daemon } = extension.descriptor
      return daemon ? [{ ...extension, daemon }] : []
    })

  function columnsOf({ descriptor, moduleHash, descriptorHash }: Declared, commit: string) {
    const { daemon, capabilities = [] } = descriptor
    return {
      canonical_sha: commit,
      module_hash: moduleHash,
      descriptor_hash: descriptorHash,
      interval_minutes: daemon?.scheduleIntervalMinutes ?? 0,
      capabilities: JSON.stringify(capabilities.toSorted()),
      event_types: daemon?.onEventTypes ? JSON.stringify(daemon.onEventTypes) : null,
    }
  }

  return async (tx, repo, extensions, commit) => {
    const declared = declaredIn(extensions)
    const known = new Map((await store.listOf(tx, repo.id)).map((row) => [row.name, row]))
    if (declared.length === 0 && known.size === 0) return
    await events.lockIn(tx, repoScope(repo.id))
    const now = clock()

    for (const one of declared) {
      // As it is now that nobody else can change it.
      const before = known.has(one.name) ? await store.findByName(tx, repo.id, one.name) : undefined
      known.delete(one.name)
      const columns = columnsOf(one, commit)
      const interval = intervalMs(columns.interval_minutes)
      if (!before) {
        const tick_at = now + interval
        await store.insertDaemon(tx, {
          ...fresh,
          ...columns,
          id: newId('dmn'),
          repo_id: repo.id,
          org_id: repo.org_id,
          name: one.name,
          tick_at,
          due_at: tick_at,
          set_at: now,
        })
        continue
      }
      const isNew = before.module_hash !== columns.module_hash
      const after = {
        ...before,
        ...columns,
        ...(isNew && { failures: 0, quarantined_until: null, retry_at: null }),
        ...(columns.event_types === null && { pending_from: null, pending_count: 0 }),
        // Who promotes often must not put the next wake off.
        tick_at: Math.min(tickAfter(before, now), now + interval),
        set_at: now,
      }
      await store.updateDaemon(tx, before.id, { ...after, due_at: dueAfter(after, now) })
      if (isNew && before.quarantined_until !== null)
        await events.append(tx, {
          ...bySystem,
          scope: repoScope(repo.id),
          type: 'daemon.resumed',
          subject: one.name,
          payload: { daemon: one.name, why: 'promotion' },
        })
    }
    for (const { id } of known.values()) await store.deleteDaemon(tx, id)

    const limit = repo.expires_at === null ? maxPerOrg : Math.ceil(maxPerOrg * PROVISIONAL_SHARE)
    if (declared.length > 0 && (await store.countOf(tx, repo.org_id)) > limit)
      throw new Fault('EXTENSION_INVALID', {
        name: repo.name,
        reason: `The organization may have up to ${limit} daemons in all of its repositories`,
      })
  }
}
