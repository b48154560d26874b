import * as z from 'zod'
import { AnyJson, Uuid } from './names.ts'

/** What a declared error promises: its HTTP status, its default message and the shape of its data. */
export interface ErrorDeclaration<Data extends z.ZodType = z.ZodType> {
  status: number
  message: string
  data: Data
}

const declare = <Data extends z.ZodType>(
  status: number,
  message: string,
  data: Data,
): ErrorDeclaration<Data> => ({
  status,
  message,
  data,
})

const text = z.string()
const nothing = z.object({})
const named = z.object({ name: text })
const namedRef = z.object({ name: text, ref: text })
const namedObject = z.object({ name: text, object: text })
const byId = z.object({ id: text })
const byUuid = z.object({ id: Uuid })
const bySlug = z.object({ slug: text })

export const Issue = z.object({
  path: z
    .array(z.union([z.string(), z.number()]))
    .optional()
    .meta({ description: 'Where in the input.', examples: [['changes', 0, 'path']] }),
  message: z.string(),
})
export type Issue = z.infer<typeof Issue>

export const ForbiddenReason = z.enum(['not_a_member', 'insufficient_role', 'scope_missing', 'write_frozen'])
export type ForbiddenReason = z.infer<typeof ForbiddenReason>

/** Every error the service declares. The code is the key; operations pick the ones that apply to them. */
export const errors = {
  BAD_REQUEST: declare(400, 'Bad request', z.object({ issues: z.array(Issue).optional() })),
  UNAUTHENTICATED: declare(401, 'Sign in required', nothing),
  FORBIDDEN: declare(
    403,
    'You do not have access to this resource',
    z.object({ reason: ForbiddenReason.optional() }),
  ),
  AGENT_CLAIM_WRONG_ACCOUNT: declare(
    403,
    'The agent asked for a different account to claim it',
    z.object({ claimEmail: text }),
  ),
  FEATURE_UNAVAILABLE: declare(404, 'Feature is not available', z.object({ feature: AnyJson })),
  EXTENSION_NOT_FOUND: declare(
    404,
    'Extension not found',
    z.object({ name: text, extension: text, ref: text.optional() }),
  ),
  RUN_NOT_FOUND: declare(404, 'Run not found', byId),
  INVITATION_NOT_FOUND: declare(404, 'Invitation not found', z.object({ invitationId: text })),
  INVITE_NOT_FOUND: declare(404, 'Invite not found', nothing),
  KEY_NOT_FOUND: declare(404, 'API key not found', byId),
  REPO_NOT_FOUND: declare(404, 'Repo not found', named),
  GIT_OBJECT_NOT_FOUND: declare(404, 'Git object not found', namedObject),
  AGENT_CLAIM_NOT_FOUND: declare(404, 'Claim link is invalid or has expired', nothing),
  AGENT_NOT_FOUND: declare(404, 'Agent registration not found', z.object({ registrationId: text })),
  RECORD_SCHEMA_NOT_FOUND: declare(
    404,
    'Canonical record schema not found',
    z.object({ name: text, record: text }),
  ),
  RECORD_NOT_FOUND: declare(404, 'Record not found', z.object({ name: text, record: text, id: text })),
  WEBHOOK_DELIVERY_NOT_FOUND: declare(404, 'Webhook delivery not found', byUuid),
  EXTENSION_PROVENANCE: declare(
    409,
    'Extension build provenance verification failed',
    z.object({ name: text, reason: text }),
  ),
  REF_ALREADY_EXISTS: declare(409, 'Git ref already exists', namedRef),
  STALE_REF: declare(409, 'Git ref is stale', namedRef),
  RECORD_MIGRATION_BLOCKED: declare(
    409,
    'Record migration blocked',
    z.object({ name: text, reasons: z.array(text) }),
  ),
  RECORD_REVISION_CONFLICT: declare(
    409,
    'Record revision conflict',
    z.object({ name: text, record: text, id: text, expectedRevision: z.int(), actualRevision: z.int() }),
  ),
  REPO_ALREADY_EXISTS: declare(409, 'Repo already exists', named),
  ORG_LAST_OWNED: declare(409, 'Cannot delete your last owned organization', bySlug),
  ORG_HAS_REPOS: declare(
    409,
    'Cannot delete an organization that still owns repos',
    z.object({ slug: text, repoCount: z.int().min(0) }),
  ),
  ORG_SLUG_TAKEN: declare(409, 'Organization slug is already taken', bySlug),
  WEBHOOK_DELIVERY_NOT_TERMINAL: declare(409, 'Webhook delivery is not terminal', byUuid),
  INVITE_UNAVAILABLE: declare(
    410,
    'Invite is no longer available',
    z.object({ reason: z.enum(['revoked', 'expired', 'exhausted', 'repo_unavailable']) }),
  ),
  AGENT_CLAIM_UNAVAILABLE: declare(
    410,
    'This agent registration can no longer be claimed',
    z.object({ reason: z.enum(['previously_claimed', 'claim_expired', 'user_code_expired']) }),
  ),
  PAYLOAD_TOO_LARGE: declare(
    413,
    'Request payload exceeds the supported limit',
    z.object({
      scope: z
        .enum(['workspace_commit', 'git_workspace_memory'])
        .describe('The body of a commit, or whatever else has to fit into memory.'),
      limit: z.number().describe('In bytes.'),
      observed: z.number().optional().describe('In bytes, where it is known.'),
    }),
  ),
  EXTENSION_INVALID: declare(
    422,
    'Extension is invalid',
    z.object({ name: text, reason: text, extension: text.optional() }),
  ),
  EXTENSION_BUILD_FAILED: declare(422, 'Extension build failed', z.object({ name: text, message: text })),
  RUN_REJECTED: declare(422, 'Run rejected', z.object({ reason: text, id: text.optional() })),
  NON_FAST_FORWARD: declare(422, 'Git ref update is not a fast-forward', namedRef),
  INVALID_TREE: declare(422, 'Invalid git tree', namedObject),
  INVALID_PARENT: declare(422, 'Invalid git parent', namedObject),
  RECORD_SCHEMA_INVALID: declare(
    422,
    'Canonical record schema is invalid',
    z.object({ name: text, record: text, reason: text }),
  ),
  AGENT_CLAIM_CODE_INVALID: declare(422, 'The code does not match', nothing),
  TOO_MANY_REQUESTS: declare(429, 'Too many requests', z.object({ retryAfterMs: z.int().min(0).optional() })),
  QUOTA_EXCEEDED: declare(
    429,
    'Quota exceeded',
    z.object({
      scope: z
        .enum(['anon', 'org', 'size'])
        .describe('What is used up: the share of callers without an account, a number of things, or bytes.'),
      limit: z.number(),
      observed: z.number().optional().describe('What there is now.'),
      projected: z.number().optional().describe('What there would be.'),
    }),
  ),
  GIT_REMOTE_WRITE_FAILED: declare(502, 'Git remote write failed', namedRef),
  IMPORT_FAILED: declare(502, 'Repo import failed', named),
  EXTENSION_BUILD_UNAVAILABLE: declare(503, 'Extension build service is unavailable', named),
  REPO_WORKSPACE_REQUIRED: declare(503, 'Repo workspace is required for this git operation', named),
} as const satisfies Record<string, ErrorDeclaration>

export type ErrorCode = keyof typeof errors
export type ErrorData<Code extends ErrorCode> = z.infer<(typeof errors)[Code]['data']>

/** The body of every failure. `defined` tells a declared error from an unexpected one. */
export const ErrorEnvelope = z.object({
  defined: z.boolean(),
  code: z.string(),
  status: z.number(),
  message: z.string(),
  data: z.unknown(),
})
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>
