import * as z from 'zod'
import { Id, OrgSlug, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Page, pageOf } from './paging.ts'

const RegistrationKind = z
  .enum(['anonymous', 'service_auth'])
  .describe('Whether it can work before it is claimed, or asked for an account first.')

export const AgentRegistrationView = z.object({
  registrationId: z.string(),
  kind: RegistrationKind,
  status: z.enum(['unclaimed', 'pending_claim', 'claimed', 'expired']),
  claimEmail: z.string().nullable().describe('The account the agent asked for.'),
  userCodeExpiresAt: z
    .int()
    .nullable()
    .describe('Unix milliseconds; null when there is no code that can be typed.'),
})
export type AgentRegistrationView = z.infer<typeof AgentRegistrationView>

export const ClaimedAgent = z
  .object({
    registrationId: z.string(),
    agentName: z.string().max(64).nullable().describe('What it calls itself. Nobody has checked it.'),
    kind: RegistrationKind,
    status: z.enum(['claimed', 'expired']),
    orgSlug: z.string().nullable().describe('The organization it came with.'),
    claimedAt: Timestamp,
    claimedBy: z
      .object({ userId: z.string(), name: z.string().meta({ examples: ['Ana'] }) })
      .nullable()
      .describe('Null when their account is gone.'),
    revokedAt: Timestamp.nullable(),
    endsAt: Timestamp.nullable().describe(
      'When it ends unless it renews its tokens before; null for one that has none.',
    ),
    createdAt: Timestamp,
  })
  .describe('A registration as those see it who answer for it.')
export type ClaimedAgent = z.infer<typeof ClaimedAgent>

const tag = 'Agents'
const ClaimAttemptToken = Id.meta({
  description: 'From the link the agent shows.',
  examples: ['Xw0bQm7cYk2sVh9tLa4eNg6uJi8oKepDzF1r'],
})
const claimErrors = ['AGENT_CLAIM_WRONG_ACCOUNT', 'AGENT_CLAIM_NOT_FOUND', 'AGENT_CLAIM_UNAVAILABLE'] as const

export const agents = {
  list: operation('/agents/list', {
    summary: 'List the agents the caller has claimed, or those of an organization',
    tag,
    admission: 'session',
  })
    .input(
      Page.extend({
        orgSlug: OrgSlug.optional().describe(
          'Those that came with this organization, whoever of its members claimed them; for its admins. The caller’s own when left out.',
        ),
      }),
    )
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
      z.object({
        claimAttemptToken: ClaimAttemptToken,
        userCode: z
          .string()
          .regex(/^\d{6}$/, 'Six digits')
          .meta({ description: 'As the agent shows it.', examples: ['042137'] }),
      }),
    )
    .output(z.object({ claimed: z.boolean() })),
  revoke: operation('/agents/revoke', {
    summary: 'End a registration and every credential it holds',
    tag,
    admission: 'session',
    errors: ['AGENT_NOT_FOUND', ...unready],
  })
    .input(z.object({ registrationId: Id.meta({ examples: ['reg_01kdvt6x3c8m4q9r'] }) }))
    .output(z.object({ revoked: z.boolean() })),
}
