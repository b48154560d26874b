import { randomBytes } from 'node:crypto'
import type { Ending } from '../access/endings.ts'
import type { Retiring } from '../agents/retiring.ts'
import { bySystem } from '../events/service.ts'
import { fateOf, type OrgsAdministration, type Standing } from '../orgs/administration.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Db, Tx } from '../schema.ts'
import * as views from './administration-store.ts'
import { createEntryLinkIn } from './entry-links.ts'
import type { Passwords } from './passwords.ts'
import * as store from './store.ts'

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
  /** Made at the first start: commands and the settings rely on that account. */
  isFirstOwner: boolean
}

export type PeopleAdministration = ReturnType<typeof createPeopleAdministration>

/** What operators do about people. */
export function createPeopleAdministration(deps: PeopleAdministrationDeps) {
  const { database, orgs, agents, doings, passwords, clock, newId } = deps

  async function removalOf(
    q: Db,
    userId: string,
    { standings, agents }: { standings: readonly Standing[]; agents: number },
  ): Promise<Removal> {
    const { left = [], deleted = [], orphaned = [] } = Object.groupBy(standings, fateOf)
    const isFirstOwner = (await store.findOwner(q))?.user_id === userId
    return { left, deleted, orphaned, agents, isFirstOwner }
  }

  /** Sessions, and links that would make one. */
  async function endEntriesIn(tx: Tx, userId: string): Promise<void> {
    await store.deleteSessionsOf(tx, userId)
    await store.deleteEntryLinksOf(tx, userId)
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
        await endEntriesIn(tx, userId)
        for (const { orgId } of standings) await doings.endIn(tx, bySystem, { orgId, actorId: userId })
        for (const { id, orgId } of await agents.listClaimedBy(tx, userId))
          await doings.endIn(tx, bySystem, { orgId, actorId: id })
      }),

    enable: (userId: string): Promise<void> => database.transact((tx) => views.setDisabled(tx, userId, null)),

    /** Gives them a new password, and takes away whatever else somebody who knew the old one may come in with. */
    async resetPassword(userId: string): Promise<string> {
      const password = randomBytes(18).toString('base64url')
      const passwordHash = await passwords.hash(password)
      await database.transact(async (tx) => {
        await store.setPassword(tx, { id: newId('acc'), userId, passwordHash, now: clock() })
        await store.deletePasskeysOf(tx, userId)
        await store.deleteSecondFactorOf(tx, userId)
        await endEntriesIn(tx, userId)
      })
      return password
    },

    /** The secret of a link that lets them set a password, once and for a day. Until then nothing changes. */
    newLink: (userId: string): Promise<string> =>
      database.transact((tx) => createEntryLinkIn(tx, userId, clock())),

    async planRemoval(userId: string): Promise<Removal> {
      const { length } = await agents.listClaimedBy(database.db, userId)
      return removalOf(database.db, userId, {
        standings: await orgs.listStandings(userId),
        agents: length,
      })
    },

    /** Undefined, and nothing is done, when organizations would be nobody's, or it is the owner of the first start. */
    remove: (userId: string, heirId?: string): Promise<Removal | undefined> =>
      database.transact(async (tx) => {
        const standings = await orgs.lockStandingsIn(tx, userId)
        const claimed = await agents.listClaimedBy(tx, userId)
        const removal = await removalOf(tx, userId, { standings, agents: claimed.length })
        if (removal.isFirstOwner || (removal.orphaned.length > 0 && heirId === undefined)) return undefined
        for (const { id } of claimed) await agents.endIn(tx, bySystem, id)
        for (const standing of standings) await orgs.leaveIn(tx, standing, { userId, heirId })
        await orgs.deleteInvitationsByIn(tx, userId)
        await views.deleteUser(tx, userId)
        return removal
      }),
  }
}
