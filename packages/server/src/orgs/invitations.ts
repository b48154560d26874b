import type { Invitation, Member, Role } from '@trellis/contract'
import { type Caller, can, requireOwner, requirePower } from '../access/caller.ts'
import { by, type EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import type { PeopleService } from '../people/service.ts'
import type { Clock } from '../platform/clock.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database } from '../schema.ts'
import { presentMember } from './members.ts'
import type { OrgsService } from './service.ts'
import * as store from './store.ts'

const LIFETIME_MS = 7 * 24 * 60 * 60 * 1000

interface InvitationsDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  people: PeopleService
  clock: Clock
  newId: NewId
}

export type InvitationsService = ReturnType<typeof createInvitationsService>

/**
 * The id of an invitation cannot be guessed and is handed over by whoever invites. It opens only for the address it
 * was made for.
 */
export function createInvitationsService(deps: InvitationsDeps) {
  const { database, events, orgs, people, clock, newId } = deps
  const notFound = (invitationId: string) => new Fault('INVITATION_NOT_FOUND', { invitationId })

  return {
    async invite(
      caller: Caller,
      { orgSlug, email, role }: { orgSlug: string; email: string; role: Role },
    ): Promise<Invitation> {
      const { org, inside } = await orgs.open(caller, orgSlug, 'org:admin')
      if (role === 'owner') requireOwner(inside)
      const address = email.toLowerCase()
      const now = clock()
      return database.transact(async (tx) => {
        if (await store.findMemberByEmail(tx, org.id, address))
          throw invalid(['email'], 'This person is a member already')
        const invitation = await store.upsertInvitation(tx, {
          id: newId('inv'),
          org_id: org.id,
          email: address,
          role,
          invited_by: caller.actor.id,
          created_at: now,
          expires_at: now + LIFETIME_MS,
        })
        await events.append(tx, {
          ...by(inside),
          scope: orgScope(org.id),
          type: 'invitation.created',
          subject: address,
          payload: { role },
        })
        return present({ ...invitation, slug: org.slug, org_name: org.name })
      })
    },

    /** Those of an organization; or, without a slug, those for the caller's own address once that is verified. */
    async list(
      caller: Caller,
      {
        orgSlug,
        cursor,
        limit,
      }: { orgSlug?: string | undefined; cursor?: string | undefined; limit: number },
    ) {
      const page = { now: clock(), after: textCursor.decode(cursor) ?? '', limit: limit + 1 }
      const rows =
        orgSlug === undefined
          ? await listOwn(caller, page)
          : await store.listInvitations(
              database.db,
              { orgId: (await orgs.open(caller, orgSlug, 'org:admin')).org.id },
              page,
            )
      const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.id))
      return { items: items.map(present), nextCursor }
    },

    async accept(caller: Caller, invitationId: string): Promise<Member> {
      const { email } = await people.get(caller.actor.id)
      return database.transact(async (tx) => {
        const invitation = await store.findInvitation(tx, invitationId, clock())
        if (invitation?.email !== email.toLowerCase() || !(await store.deleteInvitation(tx, invitationId)))
          throw notFound(invitationId)
        const joined = await store.insertMember(tx, {
          id: newId('mem'),
          org_id: invitation.org_id,
          user_id: caller.actor.id,
          role: invitation.role,
          created_at: clock(),
        })
        const member = await store.findMember(tx, invitation.org_id, caller.actor.id)
        if (!member) throw notFound(invitationId)
        if (joined)
          await events.append(tx, {
            ...by(caller),
            scope: orgScope(invitation.org_id),
            type: 'member.added',
            subject: caller.actor.id,
            payload: { role: invitation.role, invitedBy: invitation.invited_by },
          })
        return presentMember(member)
      })
    },

    async cancel(caller: Caller, invitationId: string): Promise<{ cancelled: boolean }> {
      const invitation = await store.findInvitation(database.db, invitationId, clock())
      if (!invitation || !(await mayCancel(caller, invitation))) throw notFound(invitationId)
      return database.transact(async (tx) => {
        if (!(await store.deleteInvitation(tx, invitationId))) throw notFound(invitationId)
        await events.append(tx, {
          ...by(caller),
          scope: orgScope(invitation.org_id),
          type: 'invitation.cancelled',
          subject: invitation.email,
        })
        return { cancelled: true }
      })
    },

    /** Whether somebody may sign up while only invited people may. */
    async admits({ email, emailVerified }: { email: string; emailVerified: boolean }, invitationId?: string) {
      const address = email.toLowerCase()
      if (emailVerified) return store.invitationExistsFor(database.db, address, clock())
      if (!invitationId) return false
      return (await store.findInvitation(database.db, invitationId, clock()))?.email === address
    },
  }

  async function listOwn(caller: Caller, page: { now: number; after: string; limit: number }) {
    requirePower(caller, 'org:read')
    const { email, emailVerified } = await people.get(caller.actor.id)
    // Anyone can type an address at sign-up; only a verified one may learn what is waiting for it.
    return emailVerified ? store.listInvitations(database.db, { email: email.toLowerCase() }, page) : []
  }

  async function mayCancel(caller: Caller, invitation: store.InvitationWithOrg): Promise<boolean> {
    if (caller.credential.kind === 'session') {
      const { email } = await people.get(caller.actor.id)
      if (email.toLowerCase() === invitation.email) return true
      const membership = await store.findMembership(database.db, caller.actor.id, invitation.slug)
      return membership !== undefined && can({ ...caller, role: membership.role }, 'org:admin')
    }
    return caller.org.id === invitation.org_id && can(caller, 'org:admin')
  }
}

function present(invitation: store.InvitationWithOrg): Invitation {
  return {
    id: invitation.id,
    orgSlug: invitation.slug,
    orgName: invitation.org_name,
    email: invitation.email,
    role: invitation.role,
    invitedBy: invitation.invited_by,
    expiresAt: invitation.expires_at,
    createdAt: invitation.created_at,
  }
}
