import * as z from 'zod'
import { Id, OrgSlug, Role, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageOf } from './paging.ts'

const Email = z.string().meta({ examples: ['ana@example.com'] })

const UserId = Id.meta({ examples: ['usr_01kdvt6x3c8m4q9r'] })
const InvitationId = Id.meta({ examples: ['inv_01kdvt6x3c8m4q9r'] })

export const Member = z.object({
  id: z.string().describe('Of the membership, not of the person.'),
  organizationId: z.string(),
  userId: z.string(),
  email: Email.nullable(),
  name: z
    .string()
    .nullable()
    .meta({ examples: ['Ana'] }),
  role: Role,
  createdAt: Timestamp,
})
export type Member = z.infer<typeof Member>

export const Invitation = z.object({
  id: Id.describe(
    'Cannot be guessed: whoever invites hands it over. In a list for an address that is not verified it is a name alone, and accepts nothing.',
  ),
  orgSlug: OrgSlug,
  orgName: z.string(),
  email: Email.describe('The address it opens for, and for no other.'),
  role: Role,
  invitedBy: z.string().describe('The id of the person who did.'),
  expiresAt: Timestamp,
  createdAt: Timestamp,
})
export type Invitation = z.infer<typeof Invitation>

export const NewInvitation = Invitation.extend({
  url: z.string().meta({
    description:
      'The link to hand over: its page accepts, and signs up who has no account yet. Shown this once; inviting again makes another.',
    examples: ['https://trellis.example/invitations/trl_…'],
  }),
  mailed: z.boolean().describe('Whether the link is also on its way to the address, by mail.'),
})
export type NewInvitation = z.infer<typeof NewInvitation>

const tag = 'Members'

export const members = {
  setRole: operation('/members/setRole', {
    summary: 'Change the role of a member',
    tag,
    needs: 'org:admin',
    errors: unready,
  })
    .input(z.object({ orgSlug: OrgSlug, userId: UserId, role: z.enum(['admin', 'member']) }))
    .output(Member),
  makeOwner: operation('/members/makeOwner', {
    summary: 'Make a member an owner of the organization; owners only',
    tag,
    needs: 'org:admin',
  })
    .input(z.object({ orgSlug: OrgSlug, userId: UserId }))
    .output(Member),
  list: operation('/members/list', { summary: 'List the members of an organization', tag, needs: 'org:read' })
    .input(Page.extend({ orgSlug: OrgSlug }))
    .output(pageOf(Member)),
  invite: operation('/members/invite', {
    summary: 'Invite a person by email address',
    tag,
    needs: 'org:admin',
  })
    .input(
      z.strictObject({
        orgSlug: OrgSlug,
        email: z
          .email()
          .max(254)
          .meta({ examples: ['ana@example.com'] }),
        role: Role.default('member'),
      }),
    )
    .output(NewInvitation),
  remove: operation('/members/remove', {
    summary: 'Remove a member, or leave',
    tag,
    needs: 'org:read',
  })
    .input(z.object({ orgSlug: OrgSlug, userId: UserId }))
    .output(z.object({ removed: z.boolean() })),
}

export const invitations = {
  list: operation('/invitations/list', {
    summary: "List an organization's open invitations, or the caller's own",
    tag,
  })
    .input(
      Page.extend({
        orgSlug: OrgSlug.optional().describe("Those for the caller's own address, when left out."),
      }),
    )
    .output(pageOf(Invitation)),
  accept: operation('/invitations/accept', {
    summary: 'Join the organization an invitation is for',
    tag,
    admission: 'session',
    errors: ['INVITATION_NOT_FOUND'],
  })
    .input(z.object({ invitationId: InvitationId }))
    .output(Member),
  cancel: operation('/invitations/cancel', {
    summary: 'Withdraw an invitation, or decline one',
    tag,
    errors: ['INVITATION_NOT_FOUND'],
  })
    .input(z.object({ invitationId: InvitationId }))
    .output(z.object({ cancelled: z.boolean() })),
}
