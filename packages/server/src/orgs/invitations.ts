import { hash } from 'node:crypto'
import type { Invitation, Member, NewInvitation, Role } from '@trellis/contract'
import { type Caller, can, followsPerson, requireOwner, requirePower } from '../access/caller.ts'
import { type Author, by, type EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import { invitationLetter } from '../mail/letters.ts'
import type { MailService } from '../mail/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { Clock } from '../platform/clock.ts'
import { numberCursor, pageFrom, textCursor } from '../platform/cursors.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Db } from '../schema.ts'
import { hashSecret, mintSecret, secretKind } from '../secrets/minting.ts'
import { presentMember } from './members.ts'
import type { OrgsService } from './service.ts'
import * as store from './store.ts'

const LIFETIME_MS = 7 * 24 * 60 * 60 * 1000

interface InvitationsDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  people: PeopleService
  /** Undefined where no mail can be sent. */
  mail: MailService | undefined
  baseUrl: string
  clock: Clock
  newId: NewId
}

/** Who accepts, and how the log is to name them. */
interface Guest {
  userId: string
  author: Author
}

export type InvitationsService = ReturnType<typeof createInvitationsService>

/**
 * An invitation is handed over by whoever invites, as a link with a secret in it, or by its id, which cannot be guessed
 * either. It opens only for the address it was made for.
 */
export function createInvitationsService(deps: InvitationsDeps) {
  const { database, events, orgs, people, mail, baseUrl, clock, newId } = deps

  function notFound(invitationId: string): Fault {
    const advice = invitationId.startsWith(SEEN) && {
      message: 'Your address is not verified: open the link of the invitation to accept or decline it',
    }
    return new Fault('INVITATION_NOT_FOUND', { invitationId }, advice || {})
  }

  return {
    async invite(
      caller: Caller,
      { orgSlug, email, role }: { orgSlug: string; email: string; role: Role },
    ): Promise<NewInvitation> {
      const { org, inside } = await orgs.open(caller, orgSlug, 'org:admin')
      if (role === 'owner') requireOwner(inside)
      const address = email.toLowerCase()
      const now = clock()
      const secret = mintSecret('trl')
      const url = `${baseUrl}/invitations/${secret}`
      const inviter = (await people.find(caller.actor.id))?.name ?? org.name
      const mailed = (await mail?.mayInvite(caller.actor.id, address)) ?? false
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
          secret_hash: hashSecret(secret),
        })
        if (mailed)
          await mail?.sendIn(
            tx,
            invitationLetter({ to: address, org: org.name, inviter, url, endsAt: invitation.expires_at }),
          )
        await events.append(tx, {
          ...by(inside),
          scope: orgScope(org.id),
          type: 'invitation.created',
          subject: address,
          payload: { role },
        })
        const presented = present({ ...invitation, slug: org.slug, org_name: org.name })
        return { ...presented, url, mailed }
      })
    },

    /** What the holder of a link may know; undefined when it is over. Looking changes nothing. */
    async look(secret: string) {
      const invitation = await findByLink(secret)
      if (!invitation) return undefined
      return {
        orgSlug: invitation.slug,
        orgName: invitation.org_name,
        email: invitation.email,
        role: invitation.role,
        inviter: (await people.find(invitation.invited_by))?.name,
        expiresAt: invitation.expires_at,
        hasAccount: await people.hasAccount(invitation.email),
      }
    },

    /** What somebody joined with a link that is over because they did. */
    async findJoined(userId: string, secret: string) {
      if (secretKind(secret) !== 'trl') return undefined
      const joined = await store.findJoinedWith(database.db, userId, hashSecret(secret))
      return joined && { orgSlug: joined.slug, orgName: joined.name, role: joined.role }
    },

    /** For somebody who signed in with the address it is for. */
    async acceptLink(guest: Guest, secret: string): Promise<Member> {
      const invitation = await findByLink(secret)
      if (!invitation) throw notFound('')
      return accept(guest, invitation.id)
    },

    /** Those of an organization; or, without a slug, those for the caller's own address. */
    async list(
      caller: Caller,
      {
        orgSlug,
        cursor,
        limit,
      }: { orgSlug?: string | undefined; cursor?: string | undefined; limit: number },
    ) {
      if (orgSlug === undefined) return listOwn(caller, { cursor, limit })
      const { org, inside } = await orgs.open(caller, orgSlug, 'org:admin')
      const whose = { orgId: org.id }
      if (inside.role === 'owner') return listWhole(whose, { cursor, limit })
      // With its id an admin could become the owner that somebody else was to be.
      return listNamed(whose, { cursor, limit }, (row) =>
        row.role === 'owner' ? nameAlone(row) : present(row),
      )
    },

    accept: (caller: Caller, invitationId: string): Promise<Member> =>
      accept({ userId: caller.actor.id, author: by(caller) }, invitationId),

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

    /** Whether somebody may sign up while only invited people may; they name what they were given: a link's secret or an id. */
    async admits({ email, emailVerified }: { email: string; emailVerified: boolean }, given?: string) {
      const address = email.toLowerCase()
      if (emailVerified) return store.invitationExistsFor(database.db, address, clock())
      if (!given) return false
      const found = (await findByLink(given)) ?? (await store.findInvitation(database.db, given, clock()))
      return found?.email === address && (await stands(database.db, found))
    },
  }

  async function listWhole(
    whose: { orgId: string } | { email: string },
    { cursor, limit }: { cursor?: string | undefined; limit: number },
  ) {
    const after = textCursor.decode(cursor) ?? ''
    const rows = await store.listInvitations(database.db, whose, { now: clock(), after, limit: limit + 1 })
    const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.id))
    return { items: items.map(present), nextCursor }
  }

  /** Anyone can type an address at sign-up: whoever has not shown that it is theirs sees what waits, and no more. */
  async function listOwn(caller: Caller, page: { cursor?: string | undefined; limit: number }) {
    requirePower(caller, 'org:read')
    if (caller.actor.kind !== 'user') return { items: [], nextCursor: null }
    const { email, emailVerified } = await people.get(caller.actor.id)
    const whose = { email: email.toLowerCase() }
    return emailVerified ? listWhole(whose, page) : listNamed(whose, page, nameAlone)
  }

  /** A cursor that names the last one would give its id away. */
  async function listNamed(
    whose: { orgId: string } | { email: string },
    page: { cursor?: string | undefined; limit: number },
    shown: (row: store.InvitationWithOrg) => Invitation,
  ) {
    const offset = numberCursor.decode(page.cursor) ?? 0
    const rows = await store.listInvitations(database.db, whose, {
      now: clock(),
      after: '',
      offset,
      limit: page.limit + 1,
    })
    const { items, nextCursor } = pageFrom(rows, page.limit, () => numberCursor.encode(offset + page.limit))
    return { items: items.map(shown), nextCursor }
  }

  async function findByLink(secret: string): Promise<store.InvitationWithOrg | undefined> {
    if (secretKind(secret) !== 'trl') return undefined
    const found = await store.findInvitationBySecret(database.db, hashSecret(secret), clock())
    return found && (await stands(database.db, found)) ? found : undefined
  }

  /** An invitation is worth what its maker may still give: nobody stays in through others when they are gone. */
  async function stands(q: Db, { org_id, invited_by, role }: store.InvitationWithOrg): Promise<boolean> {
    const maker = await store.findMember(q, org_id, invited_by)
    if (!maker || maker.disabled_at != null) return false
    return role === 'owner' ? maker.role === 'owner' : maker.role !== 'member'
  }

  async function accept({ userId, author }: Guest, invitationId: string): Promise<Member> {
    const { email } = await people.get(userId)
    return database.transact(async (tx) => {
      const invitation = await store.findInvitation(tx, invitationId, clock())
      if (invitation?.email !== email.toLowerCase() || !(await stands(tx, invitation)))
        throw notFound(invitationId)
      if (!(await store.deleteInvitation(tx, invitationId))) throw notFound(invitationId)
      const joined = await store.insertMember(tx, {
        id: newId('mem'),
        org_id: invitation.org_id,
        user_id: userId,
        role: invitation.role,
        created_at: clock(),
        link_hash: invitation.secret_hash,
      })
      const member = await store.findMember(tx, invitation.org_id, userId)
      if (!member) throw notFound(invitationId)
      if (joined)
        await events.append(tx, {
          ...author,
          scope: orgScope(invitation.org_id),
          type: 'member.added',
          subject: userId,
          payload: { role: invitation.role, invitedBy: invitation.invited_by },
        })
      return presentMember(member)
    })
  }

  async function mayCancel(caller: Caller, invitation: store.InvitationWithOrg): Promise<boolean> {
    if (followsPerson(caller)) {
      const { email } = await people.get(caller.actor.id)
      if (email.toLowerCase() === invitation.email) return true
      const membership = await store.findMembership(database.db, caller.actor.id, invitation.slug)
      return membership !== undefined && can({ ...caller, role: membership.role }, 'org:admin')
    }
    return caller.org.id === invitation.org_id && can(caller, 'org:admin')
  }
}

const SEEN = 'inv_seen_'

/** With a name in place of the id, which would open it. */
const nameAlone = (invitation: store.InvitationWithOrg): Invitation => ({
  ...present(invitation),
  id: `${SEEN}${hash('sha256', invitation.id, 'hex').slice(0, 16)}`,
})

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
