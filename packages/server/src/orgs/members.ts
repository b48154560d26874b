import type { Member, Role } from '@trellis/contract'
import { type Caller, requireOwner } from '../access/caller.ts'
import type { Ending } from '../access/endings.ts'
import { by, bySystem, type EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { forbidden, NotThere } from '../platform/fault.ts'
import type { Database, Tx } from '../schema.ts'
import type { OrgsService } from './service.ts'
import * as store from './store.ts'

interface MembersDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  /** What a person who leaves could still come in with. */
  ending: Ending
}

export type MembersService = ReturnType<typeof createMembersService>

export function createMembersService({ database, events, orgs, ending }: MembersDeps) {
  /** Nobody but an owner touches an owner, and the last owner stays one. */
  async function requireMayTouch(tx: Tx, inside: Caller, target: store.MemberRow): Promise<void> {
    if (target.role !== 'owner') return
    requireOwner(inside)
    if ((await store.countOwners(tx, target.org_id)) <= 1)
      throw forbidden(
        'insufficient_role',
        'The last owner of an organization stays its owner: make somebody else an owner first, with members/makeOwner',
      )
  }

  async function find(orgId: string, userId: string): Promise<void> {
    if (!(await store.findMember(database.db, orgId, userId))) throw noMember()
  }

  function changeRole(inside: Caller, userId: string, role: Role): Promise<Member> {
    const orgId = inside.org.id
    return database.transact(async (tx) => {
      // Two owners who demote each other at once would both see the other: one of them has to wait.
      await store.lockOrg(tx, orgId)
      const target = await store.findMember(tx, orgId, userId)
      if (!target) throw noMember()
      if (target.role === role) return presentMember(target)
      await requireMayTouch(tx, inside, target)
      await store.updateRole(tx, target.id, role)
      await events.append(tx, {
        ...by(inside),
        scope: orgScope(orgId),
        type: 'member.role.changed',
        subject: userId,
        payload: { from: target.role, to: role },
      })
      return presentMember({ ...target, role })
    })
  }

  return {
    async list(
      caller: Caller,
      { orgSlug, cursor, limit }: { orgSlug: string; cursor?: string | undefined; limit: number },
    ) {
      const { org } = await orgs.open(caller, orgSlug, 'org:read')
      const after = textCursor.decode(cursor) ?? ''
      const rows = await store.listMembers(database.db, org.id, { after, limit: limit + 1 })
      const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.id))
      return { items: items.map(presentMember), nextCursor }
    },

    async setRole(
      caller: Caller,
      { orgSlug, userId, role }: { orgSlug: string; userId: string; role: 'admin' | 'member' },
    ): Promise<Member> {
      const { inside } = await orgs.open(caller, orgSlug, 'org:admin', (orgId) => find(orgId, userId))
      return changeRole(inside, userId, role)
    },

    async makeOwner(
      caller: Caller,
      { orgSlug, userId }: { orgSlug: string; userId: string },
    ): Promise<Member> {
      const { inside } = await orgs.open(caller, orgSlug, 'org:admin', (orgId) => find(orgId, userId))
      if (inside.role !== 'owner') await find(inside.org.id, userId)
      requireOwner(inside)
      return changeRole(inside, userId, 'owner')
    },

    async remove(
      caller: Caller,
      { orgSlug, userId }: { orgSlug: string; userId: string },
    ): Promise<{ removed: boolean }> {
      // Anybody may leave.
      const power = userId === caller.actor.id ? 'org:read' : 'org:admin'
      const { org, inside } = await orgs.open(caller, orgSlug, power, (orgId) => find(orgId, userId))
      return database.transact(async (tx) => {
        await store.lockOrg(tx, org.id)
        const target = await store.findMember(tx, org.id, userId)
        if (!target) throw noMember()
        await requireMayTouch(tx, inside, target)
        await ending.endIn(tx, bySystem, { orgId: org.id, actorId: userId })
        await store.deleteMember(tx, target.id)
        await events.append(tx, {
          ...by(inside),
          scope: orgScope(org.id),
          type: 'member.removed',
          subject: userId,
          payload: { role: target.role },
        })
        return { removed: true }
      })
    },
  }
}

export function presentMember(member: store.MemberWithUser): Member {
  return {
    id: member.id,
    organizationId: member.org_id,
    userId: member.user_id,
    email: member.email,
    name: member.name,
    role: member.role,
    createdAt: member.created_at,
  }
}

const noMember = () => new NotThere('MEMBER_NOT_FOUND', 'Nobody with this id is a member of the organization')
