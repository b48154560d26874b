import { setImmediate } from 'node:timers/promises'
import type { Organization } from '@trellis/contract'
import {
  type ActingOrg,
  actingOrg,
  type Caller,
  can,
  followsPerson,
  requireOwner,
  requirePower,
  requireScope,
} from '../access/caller.ts'
import type { Power } from '../access/powers.ts'
import { Duplicate } from '../db/database.ts'
import { type Author, by, bySystem, type EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import type { Clock } from '../platform/clock.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { Fault, forbidden } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Db, Tx } from '../schema.ts'
import { countAll } from './administration-store.ts'
import { byAnySlug, findCurrentSlug, leaveSlug, takeSlug } from './slug-store.ts'
import { personalSlug, randomSlugPart, requireFreeSlug } from './slugs.ts'
import * as store from './store.ts'

interface OrgsDeps {
  database: Database
  events: EventsService
  clock: Clock
  newId: NewId
  limits: { orgsPerUser: number; provisionalMs: number }
}

export type OrgsService = ReturnType<typeof createOrgsService>

const SLUG_ATTEMPTS = 10
/** Short transactions: writers are waiting. */
const EXPIRED_TOGETHER = 100

export function createOrgsService({ database, events, clock, newId, limits }: OrgsDeps) {
  const newOrg = (slug: string, name: string, personalUserId: string | null, now = clock()) => ({
    id: newId('org'),
    slug,
    name,
    personal_user_id: personalUserId,
    frozen: 0,
    repo_count: 0,
    kind: 'team' as store.OrgKind,
    expires_at: null as number | null,
    address: null as string | null,
    created_at: now,
    updated_at: now,
  })

  const addOwner = (tx: Tx, orgId: string, userId: string) =>
    store.insertMember(tx, {
      id: newId('mem'),
      org_id: orgId,
      user_id: userId,
      role: 'owner',
      created_at: clock(),
    })

  /** The organization a person works in when they name none. Made at sign-up; a second call finds the first one's. */
  async function createPersonalIn(tx: Tx, user: { id: string; name: string; email: string }) {
    const existing = await store.findHomeMembership(tx, user.id)
    if (existing) return existing
    for (let attempt = 0; attempt < SLUG_ATTEMPTS; attempt++) {
      const org = await store.insertOrg(tx, newOrg(personalSlug(user.email, attempt), user.name, user.id))
      if (!org) continue
      await addOwner(tx, org.id, user.id)
      await events.append(tx, {
        ...bySystem,
        scope: orgScope(org.id),
        type: 'org.created',
        subject: org.slug,
        payload: { personal: true, ownerId: user.id },
      })
      return { ...org, role: 'owner' as const }
    }
    throw new Error('No free slug for a personal organization')
  }

  /** A person stands in an organization by membership; an agent in its own, without being a member. */
  async function findStanding(caller: Caller, slug: string): Promise<store.MembershipRow | undefined> {
    if (caller.credential.kind !== 'agent') return store.findMembership(database.db, caller.actor.id, slug)
    const org = await store.findById(database.db, caller.org.id)
    return org && { ...org, role: caller.role }
  }

  /**
   * Finds the organization a slug addresses and asks for `power` in it. One the caller is no member of looks the same
   * as one that does not exist. A credential made in one organization opens no other, unless it follows the person.
   * `look` throws when what is asked for in it does not exist: whoever may look hears of that before they lack power.
   */
  async function open(
    caller: Caller,
    slug: string,
    power: Power,
    look?: (orgId: string) => Promise<unknown>,
  ) {
    const org = await byAnySlug(database.db, slug, async (slug) =>
      followsPerson(caller) || caller.org.slug === slug ? findStanding(caller, slug) : undefined,
    )
    if (!org) throw forbidden('not_a_member')
    const inside: Caller = {
      ...caller,
      org: actingOrg(org),
      role: org.role,
    }
    if (look && can(inside, 'org:read') && !can(inside, power)) await look(org.id)
    requirePower(inside, power)
    return { org, inside }
  }

  return {
    createPersonalIn,
    open,

    /** The caller as seen inside the organization a slug addresses; undefined when they have no business there. */
    enter: (caller: Caller, slug: string): Promise<Caller | undefined> =>
      byAnySlug(database.db, slug, async (slug) => {
        if (caller.org.slug === slug) return caller
        if (!followsPerson(caller)) return undefined
        const org = await store.findMembership(database.db, caller.actor.id, slug)
        return org && { ...caller, org: actingOrg(org), role: org.role }
      }),

    countAll: () => countAll(database.db),

    isOwner: async (orgId: string, userId: string): Promise<boolean> =>
      (await store.findMember(database.db, orgId, userId))?.role === 'owner',

    /** Whether an organization had this slug before, and nobody has it now. */
    hadSlug: async ({ slug }: ActingOrg, former: string): Promise<boolean> =>
      (await findCurrentSlug(database.db, former)) === slug,

    /** An organization for somebody without an account. It ends by itself unless a person takes it over. */
    async createProvisionalIn(
      tx: Tx,
      provisional: { kind: 'agent' | 'anonymous'; expiresAt: number; address: string; author: Author },
    ): Promise<ActingOrg> {
      const { kind, expiresAt, address, author } = provisional
      const slug = `${kind === 'agent' ? 'agent' : 'anon'}-${randomSlugPart()}`
      const org = await store.insertOrg(tx, {
        ...newOrg(slug, slug, null),
        kind,
        expires_at: expiresAt,
        address,
      })
      if (!org) throw new Error('A random slug was taken')
      await events.append(tx, { ...author, scope: orgScope(org.id), type: 'org.created', subject: slug })
      return actingOrg(org)
    },

    /** Makes a person the owner of an organization that had none, for good. */
    async takeOverIn(
      tx: Tx,
      orgId: string,
      { userId, registrationId, ...author }: Author & { userId: string; registrationId?: string },
    ): Promise<void> {
      await store.updateOrg(tx, orgId, { kind: 'team', expires_at: null, address: null, updated_at: clock() })
      await addOwner(tx, orgId, userId)
      await events.append(tx, {
        ...author,
        scope: orgScope(orgId),
        type: 'member.added',
        subject: userId,
        payload: { role: 'owner', ...(registrationId && { registrationId }) },
      })
    },

    /**
     * When a new repository of an organization nobody has taken over ends: an agent's with its registration, others
     * some time from now, and the organization not before them.
     */
    async repoExpiryIn(tx: Tx, orgId: string): Promise<number | null> {
      const org = await store.findById(tx, orgId)
      if (org?.kind !== 'anonymous') return org?.expires_at ?? null
      const expiresAt = clock() + limits.provisionalMs
      await store.updateOrg(tx, orgId, { expires_at: expiresAt })
      return expiresAt
    },

    /** Repositories in the organizations that were made from an address and that nobody has taken over. */
    countReposFrom: (q: Db, address: string): Promise<number> => store.countReposFrom(q, address),

    find: (q: Db, id: string) => store.findById(q, id),

    /** Removes the organizations whose time is over and that hold nothing any more. */
    async deleteExpired(): Promise<void> {
      const remove = () => database.transact((tx) => store.deleteExpired(tx, clock(), EXPIRED_TOGETHER))
      while ((await remove()) === EXPIRED_TOGETHER) await setImmediate()
    },

    /**
     * For handing out credentials: whoever is being removed at this moment gets none that would outlive it. Waits for
     * the removal, and refuses when it has happened.
     */
    async requireStillMemberIn(tx: Tx, { actor, org }: Caller): Promise<void> {
      if (actor.kind !== 'user') return
      await store.lockOrg(tx, org.id)
      const member = await store.findMember(tx, org.id, actor.id)
      if (!member || member.disabled_at != null) throw forbidden('not_a_member')
    },

    /** The organization a person acts in: the one they name, or their own. */
    async home(userId: string, slug: string | undefined) {
      if (slug === undefined) return store.findHomeMembership(database.db, userId)
      const org = await byAnySlug(database.db, slug, (slug) =>
        store.findMembership(database.db, userId, slug),
      )
      if (!org) throw forbidden('not_a_member')
      return org
    },

    async create(caller: Caller, input: { slug: string; name?: string | undefined }): Promise<Organization> {
      // Not a matter of the role in any organization: whoever may speak for a person may found one for them.
      requireScope(caller, 'org:admin')
      requireFreeSlug(input.slug)
      return database.transact(async (tx) => {
        const owned = await store.countOwned(tx, caller.actor.id)
        if (owned >= limits.orgsPerUser)
          throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit: limits.orgsPerUser, observed: owned })
        const org = await store.insertOrg(tx, newOrg(input.slug, input.name ?? input.slug, null))
        if (!org) throw new Fault('ORG_SLUG_TAKEN', { slug: input.slug })
        await addOwner(tx, org.id, caller.actor.id)
        await events.append(tx, {
          ...by(caller),
          scope: orgScope(org.id),
          type: 'org.created',
          subject: org.slug,
        })
        return present({ ...org, role: 'owner' })
      })
    },

    async list(caller: Caller, { cursor, limit }: { cursor?: string | undefined; limit: number }) {
      requirePower(caller, 'org:read')
      if (caller.credential.kind === 'agent') {
        const own = await findStanding(caller, caller.org.slug)
        return { items: own ? [present(own)] : [], nextCursor: null }
      }
      const rows = await store.listMemberships(database.db, caller.actor.id, {
        after: textCursor.decode(cursor) ?? '',
        limit: limit + 1,
        onlyOrgId: followsPerson(caller) ? undefined : caller.org.id,
      })
      const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.slug))
      return { items: items.map(present), nextCursor }
    },

    async get(caller: Caller, slug: string): Promise<Organization> {
      const { org } = await open(caller, slug, 'org:read')
      return present(org)
    },

    async update(
      caller: Caller,
      input: {
        orgSlug: string
        slug?: string | undefined
        name?: string | undefined
        frozen?: boolean | undefined
      },
    ): Promise<Organization> {
      const { org, inside } = await open(caller, input.orgSlug, 'org:admin')
      // These break every remote, or every push.
      if (input.slug !== undefined || input.frozen !== undefined) requireOwner(inside)
      if (input.slug !== undefined && input.slug !== org.slug) requireFreeSlug(input.slug)
      // What is not given stays out of the statement: somebody else may be changing it.
      const changes = {
        slug: input.slug,
        name: input.name,
        frozen: input.frozen === undefined ? undefined : Number(input.frozen),
      }
      const renamed = database.transact(async (tx) => {
        // As it is now: somebody else may have renamed it in the meantime.
        const before = await store.lockOrg(tx, org.id)
        if (input.frozen === false && before?.held === 1)
          throw forbidden('write_frozen', 'The operator of this server has frozen this organization')
        const updated = before && (await store.updateOrg(tx, org.id, { ...changes, updated_at: clock() }))
        if (!updated) throw forbidden('not_a_member')
        if (updated.slug !== before.slug) {
          await leaveSlug(tx, before, clock())
          await takeSlug(tx, updated.slug)
        }
        await events.append(tx, {
          ...by(inside),
          scope: orgScope(org.id),
          type: 'org.updated',
          subject: updated.slug,
          payload: { slug: updated.slug, name: updated.name, frozen: updated.frozen === 1 },
        })
        return present({ ...updated, role: org.role })
      })
      return renamed.catch((error) => {
        throw error instanceof Duplicate
          ? new Fault('ORG_SLUG_TAKEN', { slug: input.slug ?? org.slug })
          : error
      })
    },

    async delete(caller: Caller, slug: string): Promise<{ deleted: boolean }> {
      const { org, inside } = await open(caller, slug, 'org:admin')
      requireOwner(inside)
      return database.transact(async (tx) => {
        const current = await store.lockOrg(tx, org.id)
        if (!current) throw forbidden('not_a_member')
        if ((await store.countOwned(tx, caller.actor.id)) <= 1)
          throw new Fault('ORG_LAST_OWNED', { slug: org.slug })
        if (current.repo_count > 0)
          throw new Fault('ORG_HAS_REPOS', { slug: org.slug, repoCount: current.repo_count })
        await events.append(tx, {
          ...by(inside),
          scope: orgScope(org.id),
          type: 'org.deleted',
          subject: org.slug,
        })
        await takeSlug(tx, current.slug)
        await store.deleteOrg(tx, org.id)
        return { deleted: true }
      })
    },

    /** Counts a repository that is being made; false when that would be more than `limit`. Locks the organization. */
    addRepoIn: store.addRepo,

    /** And what it took. */
    subtractRepoIn: store.subtractRepo,

    /** Counts what a repository grew by, and gives what all of them take. Locks the organization. */
    addBytesIn: store.addBytes,

    /** Until the transaction ends nobody else changes the organization or who is in it. */
    lockIn: store.lockOrg,

    /** As of now, not as of when the caller came in. */
    isFrozenIn: store.isFrozen,
  }
}

function present(org: store.MembershipRow): Organization {
  return {
    id: org.id,
    slug: org.slug,
    name: org.name,
    personal: org.personal_user_id !== null,
    frozen: org.frozen === 1,
    role: org.role,
    repoCount: org.repo_count,
    createdAt: org.created_at,
    updatedAt: org.updated_at,
  }
}
