import type { Ending } from '../access/endings.ts'
import { bySystem, type EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Tx } from '../schema.ts'
import * as views from './administration-store.ts'
import * as store from './store.ts'

export type { ListedOrg, Standing } from './administration-store.ts'

interface OrgsAdministrationDeps {
  database: Database
  events: EventsService
  ending: Ending
  clock: Clock
  newId: NewId
}

/** What becomes of an organization when somebody is removed for good. */
type Fate = 'left' | 'deleted' | 'orphaned'

export const fateOf = ({ role, otherOwners, otherMembers, repoCount }: views.Standing): Fate => {
  if (role !== 'owner' || otherOwners > 0) return 'left'
  return repoCount === 0 && otherMembers === 0 ? 'deleted' : 'orphaned'
}

export type OrgsAdministration = ReturnType<typeof createOrgsAdministration>

/** What operators do about organizations, whose members they need not be. */
export function createOrgsAdministration({ database, events, ending, clock, newId }: OrgsAdministrationDeps) {
  async function changeIn(
    tx: Tx,
    slug: string,
    changes: Parameters<typeof store.updateOrg>[2],
  ): Promise<views.ListedOrg | undefined> {
    const found = await views.findListedOrg(tx, slug)
    const updated = found && (await store.updateOrg(tx, found.id, { ...changes, updated_at: clock() }))
    if (!updated) return undefined
    await events.append(tx, {
      ...bySystem,
      scope: orgScope(updated.id),
      type: 'org.updated',
      subject: updated.slug,
      payload: { slug: updated.slug, name: updated.name, frozen: updated.frozen === 1 },
    })
    return views.findListedOrg(tx, slug)
  }

  /** To somebody who may be in it already. */
  async function handOverIn(tx: Tx, { orgId }: views.Standing, heirId: string): Promise<void> {
    const member = await store.findMember(tx, orgId, heirId)
    if (member) await store.updateRole(tx, member.id, 'owner')
    else
      await store.insertMember(tx, {
        id: newId('mem'),
        org_id: orgId,
        user_id: heirId,
        role: 'owner',
        created_at: clock(),
      })
    await events.append(tx, {
      ...bySystem,
      scope: orgScope(orgId),
      ...(member
        ? { type: 'member.role.changed', payload: { from: member.role, to: 'owner' } }
        : { type: 'member.added', payload: { role: 'owner' } }),
      subject: heirId,
    })
  }

  return {
    list: (page: { after: string; limit: number }): Promise<views.ListedOrg[]> =>
      views.listOrgs(database.db, page),

    find: (slug: string): Promise<views.ListedOrg | undefined> => views.findListedOrg(database.db, slug),

    /** Frozen from outside: no owner thaws it. */
    setFrozen: (slug: string, isFrozen: boolean): Promise<views.ListedOrg | undefined> =>
      database.transact((tx) => changeIn(tx, slug, { frozen: Number(isFrozen), held: Number(isFrozen) })),

    /** What is left out stays; null gives it back to the settings of the server. */
    setLimits: (
      slug: string,
      limits: { repositories?: number | null; bytes?: number | null },
    ): Promise<views.ListedOrg | undefined> =>
      database.transact((tx) =>
        changeIn(tx, slug, { max_repos: limits.repositories, max_bytes: limits.bytes }),
      ),

    listStandings: (userId: string): Promise<views.Standing[]> => views.listStandings(database.db, userId),

    /** Where somebody stands; until the transaction ends nobody changes these organizations or who is in them. */
    async lockStandingsIn(tx: Tx, userId: string): Promise<views.Standing[]> {
      for (const { orgId } of await views.listStandings(tx, userId)) await store.lockOrg(tx, orgId)
      return views.listStandings(tx, userId)
    },

    /** Somebody is removed for good. An organization that would be nobody's goes to the heir. */
    async leaveIn(
      tx: Tx,
      standing: views.Standing,
      { userId, heirId }: { userId: string; heirId: string | undefined },
    ): Promise<void> {
      const { orgId, slug, role, memberId } = standing
      const scope = orgScope(orgId)
      const fate = fateOf(standing)
      if (fate === 'orphaned') {
        if (heirId === undefined) throw new Error(`${slug} would be nobody's`)
        await handOverIn(tx, standing, heirId)
      }
      await ending.endIn(tx, bySystem, { orgId, actorId: userId })
      if (fate === 'deleted') {
        await events.append(tx, { ...bySystem, scope, type: 'org.deleted', subject: slug })
        await store.deleteOrg(tx, orgId)
        return
      }
      await store.deleteMember(tx, memberId)
      if (standing.personalUserId === userId) await store.updateOrg(tx, orgId, { personal_user_id: null })
      await events.append(tx, {
        ...bySystem,
        scope,
        type: 'member.removed',
        subject: userId,
        payload: { role },
      })
    },

    deleteInvitationsByIn: views.deleteInvitationsBy,
  }
}
