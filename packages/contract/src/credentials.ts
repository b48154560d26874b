import * as z from 'zod'
import { Actor, OrgSlug, Role, Scope } from './names.ts'
import { operation } from './operation.ts'

export const CredentialSelf = z.object({
  actor: Actor.describe('Who acts with it.'),
  kind: z.enum(['session', 'key', 'token', 'agent']).describe('What kind of credential it is.'),
  id: z.string().describe('Of the credential; events name it.'),
  organization: z
    .object({ id: z.string(), slug: OrgSlug, name: z.string() })
    .describe('The one this request acts in.'),
  role: Role.nullable().describe(
    'In that organization; null for a repository token, which is no membership.',
  ),
  scopes: z.array(Scope).meta({ examples: [['repo:write', 'org:read']] }),
  repo: z.string().nullable().describe('The one repository that a repository token opens.'),
  refs: z
    .array(z.string())
    .nullable()
    .describe('Patterns of the refs that a repository token may move; null where it is held to none.'),
  expiresAt: z
    .int()
    .nullable()
    .describe('When it stops working, in Unix milliseconds; null for one without an end.'),
})
export type CredentialSelf = z.infer<typeof CredentialSelf>

export const credentials = {
  self: operation('/credentials/self', {
    summary: 'Tell who is calling: actor, organization, role, scopes and expiry of the credential sent',
    tag: 'Credentials',
  })
    .input(z.object({}).optional())
    .output(CredentialSelf),
}
