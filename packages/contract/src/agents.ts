import * as z from 'zod'
import { Id, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageOf } from './paging.ts'

export const AgentRegistrationView = z.object({
  registrationId: z.string(),
  kind: z.enum(['anonymous', 'service_auth']),
  status: z.enum(['unclaimed', 'pending_claim', 'claimed', 'expired']),
  claimEmail: z.string().nullable(),
  userCodeExpiresAt: z.int().nullable(),
})
export type AgentRegistrationView = z.infer<typeof AgentRegistrationView>

/** A registration as the person sees it who claimed it. */
export const ClaimedAgent = z.object({
  registrationId: z.string(),
  kind: z.enum(['anonymous', 'service_auth']),
  status: z.enum(['claimed', 'expired']),
  orgSlug: z.string().nullable(),
  claimedAt: Timestamp,
  revokedAt: Timestamp.nullable(),
  createdAt: Timestamp,
})
export type ClaimedAgent = z.infer<typeof ClaimedAgent>

const tag = 'Agents'
const ClaimAttemptToken = Id
const claimErrors = ['AGENT_CLAIM_WRONG_ACCOUNT', 'AGENT_CLAIM_NOT_FOUND', 'AGENT_CLAIM_UNAVAILABLE'] as const

export const agents = {
  list: operation('/agents/list', {
    summary: 'List the agents the caller has claimed',
    tag,
    admission: 'session',
  })
    .input(Page)
    .output(pageOf(ClaimedAgent)),
  claimView: operation('/agents/claimView', {
    summary: 'Show the registration behind a claim link',
    tag,
    admission: 'session',
    errors: [...claimErrors, ...unready],
  })
    .input(z.object({ claimAttemptToken: ClaimAttemptToken }))
    .output(AgentRegistrationView),
  claimComplete: operation('/agents/claimComplete', {
    summary: 'Claim an agent registration with the code the agent shows',
    tag,
    admission: 'session',
    errors: [...claimErrors, 'AGENT_CLAIM_CODE_INVALID', ...unready],
  })
    .input(
      z.object({ claimAttemptToken: ClaimAttemptToken, userCode: z.string().regex(/^\d{6}$/, 'Six digits') }),
    )
    .output(z.object({ claimed: z.boolean() })),
  revoke: operation('/agents/revoke', {
    summary: 'End a registration and every credential it holds',
    tag,
    admission: 'session',
    errors: ['AGENT_NOT_FOUND', ...unready],
  })
    .input(z.object({ registrationId: Id }))
    .output(z.object({ revoked: z.boolean() })),
}
