import * as z from 'zod'
import { Id, OrgSlug, Role, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageOf } from './paging.ts'

export const Member = z.object({
  id: z.string(),
  organizationId: z.string(),
  userId: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  role: Role,
  createdAt: Timestamp,
})
export type Member = z.infer<typeof Member>

export const Invitation = z.object({
  id: Id,
  orgSlug: OrgSlug,
  orgName: z.string(),
  email: z.string(),
  role: Role,
  invitedBy: z.string(),
  expiresAt: Timestamp,
  createdAt: Timestamp,
})
export type Invitation = z.infer<typeof Invitation>

const tag = 'Members'

export const members = {
  setRole: operation('/members/setRole', {
    summary: 'Change the role of a member',
    tag,
    needs: 'org:admin',
    errors: unready,
  })
    .input(z.object({ orgSlug: OrgSlug, userId: Id, role: z.enum(['admin', 'member']) }))
    .output(Member),
  list: operation('/members/list', { summary: 'List the members of an organization', tag, needs: 'org:read' })
    .input(Page.extend({ orgSlug: OrgSlug }))
    .output(pageOf(Member)),
  invite: operation('/members/invite', {
    summary: 'Invite a person by email address',
    tag,
    needs: 'org:admin',
  })
    .input(z.object({ orgSlug: OrgSlug, email: z.email().max(254), role: Role.default('member') }))
    .output(Invitation),
  remove: operation('/members/remove', {
    summary: 'Remove a member, or leave',
    tag,
    needs: 'org:read',
  })
    .input(z.object({ orgSlug: OrgSlug, userId: Id }))
    .output(z.object({ removed: z.boolean() })),
}

export const invitations = {
  list: operation('/invitations/list', {
    summary: "List an organization's open invitations, or the caller's own",
    tag,
  })
    .input(Page.extend({ orgSlug: OrgSlug.optional() }))
    .output(pageOf(Invitation)),
  accept: operation('/invitations/accept', {
    summary: 'Join the organization an invitation is for',
    tag,
    admission: 'session',
    errors: ['INVITATION_NOT_FOUND'],
  })
    .input(z.object({ invitationId: Id }))
    .output(Member),
  cancel: operation('/invitations/cancel', {
    summary: 'Withdraw an invitation, or decline one',
    tag,
    errors: ['INVITATION_NOT_FOUND'],
  })
    .input(z.object({ invitationId: Id }))
    .output(z.object({ cancelled: z.boolean() })),
}
