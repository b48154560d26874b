import * as z from 'zod'
import { AccessScope, Id, IsoTime, RepoName, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { listOf, Page, pageOf } from './paging.ts'

const RepoExpiresAt = IsoTime.nullable().describe('When the repository itself ends; null when it stays.')

export const NewInvite = z.object({
  id: z.string().describe('The secret in the link; whoever has it can take a clone.'),
  managementId: z.string().describe('A secret that ends the invite, for whoever created it.'),
  url: z
    .string()
    .meta({ description: 'The link to hand over.', examples: ['https://trellis.example/invites/…'] }),
  repo: z.string().meta({ examples: ['hello'] }),
  scope: AccessScope,
  expiresAt: IsoTime,
  repoExpiresAt: RepoExpiresAt,
})
export type NewInvite = z.infer<typeof NewInvite>

export const RevealedInvite = z.object({
  repo: z.string().meta({ examples: ['hello'] }),
  scope: AccessScope,
  remote: z.string().describe('The address without a credential.'),
  cloneUrl: z.string().describe('The address with a token in it, for git.'),
  cloneCommand: z.string().describe('A line to paste into a terminal.'),
  prompt: z.string().describe('Tells a coding agent what it was given, for how long, and how to use it.'),
  tokenExpiresAt: IsoTime,
  inviteExpiresAt: IsoTime,
  repoExpiresAt: RepoExpiresAt,
})
export type RevealedInvite = z.infer<typeof RevealedInvite>

export const Invite = z.object({
  id: z.string().describe('Names it, and is not the secret in the link.'),
  idPrefix: z.string().describe('How the secret in the link begins.'),
  repo: z.string().nullable().describe('Null when the repository is gone.'),
  orgId: z.string().nullable(),
  orgSlug: z.string().nullable(),
  orgName: z.string().nullable(),
  scope: AccessScope,
  status: z.enum(['active', 'revoked', 'expired', 'exhausted']),
  maxReveals: z.int().nullable().describe('Null for as many as people take.'),
  revealCount: z.int().describe('How many clones were taken.'),
  expiresAt: IsoTime,
  repoExpiresAt: RepoExpiresAt,
  revokedAt: IsoTime.nullable(),
  createdAt: Timestamp,
})
export type Invite = z.infer<typeof Invite>

const DAY_SECONDS = 86_400
const tag = 'Invites'

const NewInviteInput = z.object({
  name: RepoName,
  scope: AccessScope.default('read'),
  grantTtlSeconds: z
    .int()
    .min(60)
    .max(DAY_SECONDS)
    .default(1800)
    .describe('How long each clone works; never past the invite or the repository.'),
  expiresIn: z
    .int()
    .default(7 * DAY_SECONDS)
    .overwrite((seconds) => Math.min(Math.max(seconds, 60), 30 * DAY_SECONDS))
    .describe('How many seconds the link works. Brought between a minute and 30 days, not refused.'),
  maxReveals: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe('How many clones can be taken; any number when left out.'),
})

export const invites = {
  createAnonymous: operation('/invites/createAnonymous', {
    summary: 'Create a link that hands out time-limited clones; needs no account',
    tag,
    admission: 'anyone',
    errors: ['REPO_NOT_FOUND', 'REPO_ALREADY_EXISTS', 'FEATURE_UNAVAILABLE', 'QUOTA_EXCEEDED', ...unready],
  })
    .input(NewInviteInput)
    .output(NewInvite),
  reveal: operation('/invites/reveal', {
    summary: 'Take a time-limited clone from an invite',
    tag,
    admission: 'anyone',
    ignoresCredential: true,
    errors: ['INVITE_NOT_FOUND', 'INVITE_UNAVAILABLE', 'FEATURE_UNAVAILABLE', 'QUOTA_EXCEEDED', ...unready],
  })
    .input(
      z.object({
        id: Id.min(16)
          .max(128)
          .meta({
            description: 'The secret in the link.',
            examples: ['pDzF1rXw0bQm7cYk2sVh9tLa4eNg6uJi8oKe'],
          }),
      }),
    )
    .output(RevealedInvite),
  listAnonymous: operation('/invites/listAnonymous', {
    summary: 'List the invites this caller created: all that work, and what ended in the last 30 days',
    tag,
    admission: 'anyone',
    errors: ['FEATURE_UNAVAILABLE', ...unready],
  })
    .input(z.object({}).optional())
    .output(listOf(Invite)),
  create: operation('/invites/create', {
    summary: 'Create an invite for a repository',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE', 'QUOTA_EXCEEDED'],
  })
    .input(NewInviteInput)
    .output(NewInvite),
  list: operation('/invites/list', {
    summary: 'List the invites of a repository, whoever created them',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(Page.extend({ name: RepoName }))
    .output(pageOf(Invite)),
  revoke: operation('/invites/revoke', {
    summary: 'End an invite: with its management id, or by its listed id as somebody who may',
    tag,
    admission: 'anyone',
    errors: ['INVITE_NOT_FOUND'],
  })
    .input(
      z
        .object({ managementId: Id.optional(), id: Id.optional() })
        .meta({ description: 'One of the two.', examples: [{ id: 'ivt_01kdvt6x3c8m4q9r' }] }),
    )
    .output(z.object({ revoked: z.boolean() })),
}
