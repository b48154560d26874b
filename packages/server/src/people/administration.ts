import { randomBytes } from 'node:crypto'
import type { Ending } from '../access/endings.ts'
import type { Retiring } from '../agents/retiring.ts'
import { bySystem } from '../events/service.ts'
import { fateOf, type OrgsAdministration, type Standing } from '../orgs/administration.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database } from '../schema.ts'
import * as views from './administration-store.ts'
import type { Passwords } from './passwords.ts'
import { deleteSessionsOf, setPassword } from './store.ts'

export type { ListedUser } from './administration-store.ts'

interface PeopleAdministrationDeps {
  database: Database
  orgs: OrgsAdministration
  agents: Pick<Retiring, 'endIn' | 'listClaimedBy'>
  /** What somebody handed out and set off. */
  doings: Ending
  passwords: Pick<Passwords, 'hash'>
  clock: Clock
  newId: NewId
}

/** What removing somebody would come to. */
export interface Removal {
  /** Organizations that others own as well. */
  left: Standing[]
  /** Theirs alone, and empty. */
  deleted: Standing[]
  /** Theirs alone, and not empty: somebody has to take them over. */
  orphaned: Standing[]
  agents: number
}

export type PeopleAdministration = ReturnType<typeof createPeopleAdministration>

/** What operators do about people. */
export function createPeopleAdministration(deps: PeopleAdministrationDeps) {
  const { database, orgs, agents, doings, passwords, clock, newId } = deps

  const removalOf = (standings: readonly Standing[], claimed: number): Removal => {
    const { left = [], deleted = [], orphaned = [] } = Object.groupBy(standings, fateOf)
    return { left, deleted, orphaned, agents: claimed }
  }

  return {
    list: (page: { after: string; limit: number }): Promise<views.ListedUser[]> =>
      views.listUsers(database.db, page),

    /** By id or address. */
    find: (who: string): Promise<views.ListedUser | undefined> => views.findListedUser(database.db, who),

    /**
     * Shuts somebody out at once. What they come in with is refused from then on and good again when they are let in,
     * but for sessions; what they or their agents handed out or have running ends for good.
     */
    disable: (userId: string): Promise<void> =>
      database.transact(async (tx) => {
        const standings = await orgs.lockStandingsIn(tx, userId)
        await views.setDisabled(tx, userId, clock())
        await deleteSessionsOf(tx, userId)
        for (const { orgId } of standings) await doings.endIn(tx, bySystem, { orgId, actorId: userId })
        for (const { id, orgId } of await agents.listClaimedBy(tx, userId))
          await doings.endIn(tx, bySystem, { orgId, actorId: id })
      }),

    enable: (userId: string): Promise<void> => database.transact((tx) => views.setDisabled(tx, userId, null)),

    /** Gives them a new password and ends their sessions. */
    async resetPassword(userId: string): Promise<string> {
      const password = randomBytes(18).toString('base64url')
      const passwordHash = await passwords.hash(password)
      await database.transact(async (tx) => {
        await setPassword(tx, { id: newId('acc'), userId, passwordHash, now: clock() })
        await deleteSessionsOf(tx, userId)
      })
      return password
    },

    async planRemoval(userId: string): Promise<Removal> {
      const claimed = await agents.listClaimedBy(database.db, userId)
      return removalOf(await orgs.listStandings(userId), claimed.length)
    },

    /** Undefined, and nothing is done, when organizations would be nobody's and there is no heir. */
    remove: (userId: string, heirId?: string): Promise<Removal | undefined> =>
      database.transact(async (tx) => {
        const standings = await orgs.lockStandingsIn(tx, userId)
        const claimed = await agents.listClaimedBy(tx, userId)
        const removal = removalOf(standings, claimed.length)
        if (removal.orphaned.length > 0 && heirId === undefined) return undefined
        for (const { id } of claimed) await agents.endIn(tx, bySystem, id)
        for (const standing of standings) await orgs.leaveIn(tx, standing, { userId, heirId })
        await orgs.deleteInvitationsByIn(tx, userId)
        await views.deleteUser(tx, userId)
        return removal
      }),
  }
}
