import * as z from 'zod'
import { AccessScope, Id, RepoName, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { listOf, Page, pageOf } from './paging.ts'

export const NewInvite = z.object({
  id: z.string(),
  managementId: z.string(),
  url: z.string(),
  repo: z.string(),
  scope: AccessScope,
  expiresAt: z.string(),
  repoExpiresAt: z.string().nullable(),
})
export type NewInvite = z.infer<typeof NewInvite>

export const RevealedInvite = z.object({
  repo: z.string(),
  scope: AccessScope,
  remote: z.string(),
  cloneUrl: z.string(),
  cloneCommand: z.string(),
  prompt: z.string(),
  tokenExpiresAt: z.string(),
  inviteExpiresAt: z.string(),
  repoExpiresAt: z.string().nullable(),
})
export type RevealedInvite = z.infer<typeof RevealedInvite>

export const Invite = z.object({
  id: z.string(),
  idPrefix: z.string(),
  repo: z.string().nullable(),
  orgId: z.string().nullable(),
  orgSlug: z.string().nullable(),
  orgName: z.string().nullable(),
  scope: AccessScope,
  status: z.enum(['active', 'revoked', 'expired', 'exhausted']),
  maxReveals: z.int().nullable(),
  revealCount: z.int(),
  expiresAt: z.string(),
  repoExpiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
  createdAt: Timestamp,
})
export type Invite = z.infer<typeof Invite>

const DAY_SECONDS = 86_400
const tag = 'Invites'

const NewInviteInput = z.object({
  name: RepoName,
  scope: AccessScope.default('read'),
  grantTtlSeconds: z.int().min(60).max(DAY_SECONDS).default(1800),
  // Out of range is clamped, not refused.
  expiresIn: z
    .int()
    .default(7 * DAY_SECONDS)
    .overwrite((seconds) => Math.min(Math.max(seconds, 60), 30 * DAY_SECONDS)),
  maxReveals: z.int().min(1).max(1000).optional(),
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
    errors: ['INVITE_NOT_FOUND', 'INVITE_UNAVAILABLE', 'FEATURE_UNAVAILABLE', ...unready],
  })
    .input(z.object({ id: Id.min(16).max(128) }))
    .output(RevealedInvite),
  listAnonymous: operation('/invites/listAnonymous', {
    summary: 'List the invites this caller created',
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
    errors: ['REPO_NOT_FOUND'],
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
    .input(z.object({ managementId: Id.optional(), id: Id.optional() }))
    .output(z.object({ revoked: z.boolean() })),
}
