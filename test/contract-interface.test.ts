import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AnyContractProcedure, isContractProcedure } from '@orpc/contract'
import { API_PREFIX, contract, ErrorEnvelope, errors, INTERFACE_VERSION } from '@trellis/contract'
import { createTrellisClient, isDefinedError, safe, TrellisError } from '@trellis/contract/client'
import { createSqlite, useApp } from '@trellis/server/testing'
import * as z from 'zod'

/*
 * The published interface, written down by hand, held against the contract. A field is `name` when it is required and
 * `name?` when it may be left out; what is in it follows, with its limits, and its default after `=`.
 */

type Fields = Record<string, string>

const inside = (at: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([path, what]) => [`${at}.${path}`, what]))
const listOf = (fields: Fields, at = 'items'): Fields => ({ [at]: 'object[]', ...inside(`${at}[]`, fields) })
const pageOf = (fields: Fields): Fields => ({ ...listOf(fields), nextCursor: 'string|null' })

const actorKinds = 'user|anonymous|system|agent|mcp'
const runtimes = 'worker|sandbox|workflow'

const repository: Fields = {
  name: 'string',
  ownerId: 'string',
  defaultBranch: 'string',
  artifactId: 'string|null',
  remote: 'string|null',
  readOnly: 'boolean',
  canWrite: 'boolean',
  canAdmin: 'boolean',
  sizeBytes: 'integer 0..',
  lastPushAt: 'string|null',
  source: 'string|null',
  createdAt: 'number',
  updatedAt: 'number',
}

const repositoryToken: Fields = {
  id: 'string',
  artifactId: 'string',
  tokenPrefix: 'string',
  artifactsTokenId: 'string',
  scope: 'read|write',
  op: 'string',
  tokenOps: 'string',
  createdAt: 'number',
  expiresAt: 'string',
  revokedAt: 'string|null',
}

const tokenValidation: Fields = {
  valid: 'boolean',
  id: 'string|null',
  artifactId: 'string|null',
  tokenPrefix: 'string|null',
  scope: 'string|null',
  op: 'string|null',
  expiresAt: 'string|null',
  revokedAt: 'string|null',
}

const logEvent: Fields = {
  id: 'string',
  ts: 'number',
  scope: 'string',
  type: 'string ..128 ^[a-z][a-z0-9]*(\\.[a-z0-9]+)*$',
  actor: 'object',
  'actor.kind': actorKinds,
  'actor.id': 'string',
  'subject?': 'string',
  'payload?': 'any',
  'cause?': 'object',
  'cause?.eventId?': 'string',
  'cause?.runId': 'string',
  'cause?.depth': 'integer',
  'cause?.chain': 'string[]',
  'cause?.rootEventId': 'string|null',
}

const recordRow: Fields = {
  id: 'string',
  revision: 'integer',
  createdAt: 'number',
  updatedAt: 'number',
  data: 'object',
}

const recordSchema: Fields = {
  name: 'RECORD_NAME',
  fields: 'object',
  'indexes?': 'string[]',
  'hooks?': 'object = {}',
  'hooks?.onCreate?': 'boolean',
  'hooks?.onTransition?': 'boolean',
}

const gitRef: Fields = { name: 'string', oid: 'string', type: 'branch|tag|other' }

const subscription: Fields = {
  'push?': 'object',
  'push?.branches?': 'string[]',
  'push?.paths?': 'string[]',
  'event?': 'object',
  'event?.types': 'string[] 1..32',
  'event?.subject?': 'string 1..',
  'event?.from?': 'string 1..',
}

const extension: Fields = {
  version: 'any',
  name: 'EXT_NAME',
  'description?': 'string ..512',
  path: 'string 1..',
  modulePath: 'string 1..',
  descriptorPath: 'string 1..',
  moduleHash: 'HASH',
  descriptorHash: 'HASH',
  'runtime?': `${runtimes} = "worker"`,
  'capabilities?': 'string[] = []',
  'dispatch?': 'boolean = false',
  'inputSchema?': 'object',
  'outputSchema?': 'object',
  'record?': 'object',
  ...inside('record?', recordSchema),
  'on?': 'object = {}',
  ...inside('on?', subscription),
  bundlerVersion: 'string 1..',
  commitSha: 'string|null',
  dispatchable: 'boolean',
  effectiveCapabilities: 'string[]',
  canonicalDescriptorHash: 'string|null',
  canonicalGrantHash: 'string|null',
  canonicalSchemaHash: 'string|null',
  schemaAhead: 'boolean',
  canonical: 'boolean',
}

const daemon: Fields = {
  name: 'EXT_NAME',
  canonicalSha: 'string 1..',
  moduleHash: 'HASH',
  descriptorHash: 'HASH',
  scheduleIntervalMinutes: 'integer 5..',
  'capabilities?': 'string[] = []',
  onEventTypes: 'string[]|null',
  status: 'active|quarantined',
  failures: 'integer 0..',
  quarantinedUntil: 'integer|null',
  nextWakeAt: 'integer|null',
  lastRun: 'object|null',
  'lastRun.id': 'string 1..',
  'lastRun.status': 'succeeded|failed|cancelled',
  'lastRun.endedAt': 'integer 0..',
  lastWakeAt: 'integer|null',
  lastWakeOutcome: 'string|null',
  lastWakeDetail: 'string|null',
  lastConsumerSeenAt: 'integer|null',
  lastConsumerDetail: 'string|null',
  pendingEventCount: 'integer 0..',
}

const run: Fields = {
  id: 'string',
  repoId: 'string',
  repoName: 'string',
  extension: 'EXT_NAME',
  trigger: 'dispatch|push|record|event|daemon',
  status: 'queued|running|succeeded|failed|cancelled',
  actor: 'object',
  'actor.kind': actorKinds,
  'actor.id': 'string',
  ref: 'string',
  canonicalRef: 'string',
  before: 'string|null',
  after: 'string|null',
  commitSha: 'string|null',
  canonicalCommitSha: 'string|null',
  executedModuleHash: 'string|null',
  canonicalDescriptorHash: 'string|null',
  canonicalGrantHash: 'string|null',
  causeEventId: 'string|null',
  rootEventId: 'string|null',
  tokenId: 'string|null',
  error: 'string|null',
  causationDepth: 'integer|null',
  exitCode: 'integer|null',
  input: 'any',
  'output?': 'any',
  'inputSchema?': 'object',
  'outputSchema?': 'object',
  runtime: runtimes,
  capabilities: 'string[]',
  effectiveCapabilities: 'string[]',
  createdAt: 'number',
  startedAt: 'number|null',
  endedAt: 'number|null',
}

const migrationPlanEntry: Fields = {
  recordName: 'string',
  kind: 'create|migrate|noop|blocked',
  schemaHash: 'string',
  steps: 'string[]',
  'reasons?': 'string[]',
}

const member: Fields = {
  id: 'string',
  organizationId: 'string',
  userId: 'string',
  email: 'string|null',
  name: 'string|null',
  role: 'owner|admin|member',
  createdAt: 'number',
}

const newInvite: Fields = {
  id: 'string',
  managementId: 'string',
  url: 'string',
  repo: 'string',
  scope: 'read|write',
  expiresAt: 'string',
  repoExpiresAt: 'string|null',
}

const revealedInvite: Fields = {
  repo: 'string',
  scope: 'read|write',
  remote: 'string',
  cloneUrl: 'string',
  cloneCommand: 'string',
  prompt: 'string',
  tokenExpiresAt: 'string',
  inviteExpiresAt: 'string',
  repoExpiresAt: 'string|null',
}

const invite: Fields = {
  id: 'string',
  idPrefix: 'string',
  repo: 'string|null',
  orgId: 'string|null',
  orgSlug: 'string|null',
  orgName: 'string|null',
  scope: 'read|write',
  status: 'active|revoked|expired|exhausted',
  maxReveals: 'integer|null',
  revealCount: 'integer',
  expiresAt: 'string',
  repoExpiresAt: 'string|null',
  revokedAt: 'string|null',
  createdAt: 'number',
}

const apiKey: Fields = {
  id: 'string',
  name: 'string',
  prefix: 'string',
  scopes: 'string[]',
  enabled: 'boolean',
  expiresAt: 'integer|null',
  lastUsedAt: 'integer|null',
  createdAt: 'integer',
}

const agentView: Fields = {
  registrationId: 'string',
  kind: 'anonymous|service_auth',
  status: 'unclaimed|pending_claim|claimed|expired',
  claimEmail: 'string|null',
  userCodeExpiresAt: 'integer|null',
}

const webhook: Fields = {
  name: 'EXT_NAME',
  url: 'uri',
  'on?': 'object = {}',
  ...inside('on?', subscription),
  'contentType?': 'any = "application/json"',
  hasPayload: 'boolean',
  moduleHash: 'string|null',
  id: 'uuid',
  repoId: 'string',
  secretPrefix: 'string ^webhsec_.*',
  active: 'boolean',
  status: 'active|orphaned',
  createdAt: 'number',
  updatedAt: 'number',
}

const webhookDelivery: Fields = {
  id: 'uuid',
  webhookId: 'uuid',
  webhookName: 'EXT_NAME',
  eventType: 'string 1..',
  subject: 'string|null',
  requestBodyDigest: 'string',
  requestBodyTruncated: 'string',
  responseStatus: 'integer|null',
  responseBodyTruncated: 'string|null',
  durationMs: 'integer|null',
  attempt: 'integer 0..',
  status: 'pending|success|failed|dropped',
  createdAt: 'number',
  deliveredAt: 'number|null',
}

const webhookSecret: Fields = {
  secret: 'string ^webhsec_.*',
  'previousSecret?': 'string ^webhsec_.*',
  'previousSecretRetiresAt?': 'number',
}

interface Published {
  /** Whether no Authorization header is part of it. */
  open?: true
  /** Whether one that is sent is not even looked at, so that nobody is refused for it. */
  blind?: true
  request: Fields
  response: Fields
  /** Beside those that every operation has. */
  errors: string[]
}

const webhookErrors = ['FEATURE_UNAVAILABLE', 'WEBHOOK_DELIVERY_NOT_FOUND', 'WEBHOOK_DELIVERY_NOT_TERMINAL']

const operations: Record<string, Published> = {
  '/agents/claimView': {
    request: { claimAttemptToken: 'string 1..' },
    response: agentView,
    errors: ['AGENT_CLAIM_WRONG_ACCOUNT', 'AGENT_CLAIM_NOT_FOUND', 'AGENT_CLAIM_UNAVAILABLE'],
  },
  '/agents/claimComplete': {
    request: { claimAttemptToken: 'string 1..', userCode: 'string ^\\d{6}$' },
    response: { claimed: 'boolean' },
    errors: [
      'AGENT_CLAIM_WRONG_ACCOUNT',
      'AGENT_CLAIM_NOT_FOUND',
      'AGENT_CLAIM_UNAVAILABLE',
      'AGENT_CLAIM_CODE_INVALID',
    ],
  },
  '/agents/revoke': {
    request: { registrationId: 'string 1..' },
    response: { revoked: 'boolean' },
    errors: ['AGENT_NOT_FOUND'],
  },
  '/tokens/list': { request: { name: 'REPO_NAME' }, response: listOf(repositoryToken), errors: [] },
  '/tokens/validate': {
    open: true,
    blind: true,
    request: { token: 'string 1..' },
    response: tokenValidation,
    errors: [],
  },
  '/keys/list': { request: {}, response: listOf(apiKey), errors: [] },
  '/repos/list': {
    request: { 'cursor?': 'string', 'limit?': 'integer 1..100 = 50' },
    response: pageOf(repository),
    errors: [],
  },
  '/repos/create': {
    request: { name: 'REPO_NAME', 'defaultBranch?': 'string 1..139 = "main"' },
    response: repository,
    errors: ['REPO_ALREADY_EXISTS'],
  },
  '/git/branches/list': {
    request: { name: 'REPO_NAME', 'cursor?': 'string', 'limit?': 'integer 1..100 = 50' },
    response: { ...pageOf(gitRef), hasMore: 'boolean' },
    errors: [],
  },
  '/git/tags/create': {
    request: {
      name: 'REPO_NAME',
      tag: 'string 1..',
      oid: 'string 1..',
      'message?': 'string 1..',
      'tagger?': 'object',
      'tagger?.name': 'string 1..',
      'tagger?.email': 'email',
      'tagger?.timestamp?': 'integer',
      'tagger?.timezoneOffset?': 'integer',
    },
    response: gitRef,
    errors: ['GIT_OBJECT_NOT_FOUND', 'REF_ALREADY_EXISTS', 'GIT_REMOTE_WRITE_FAILED'],
  },
  '/records/list': {
    request: {
      name: 'REPO_NAME',
      record: 'RECORD_NAME',
      'where?': 'object',
      // The order of an index is ours, beyond the interface.
      'sort?': 'string ..300',
      'limit?': 'integer 1..1000 = 100',
      'cursor?': 'string',
    },
    response: {
      ...listOf(recordRow, 'rows'),
      cursor: 'string|null',
      schema: 'object',
      ...inside('schema', recordSchema),
    },
    errors: [
      'FEATURE_UNAVAILABLE',
      'RECORD_SCHEMA_NOT_FOUND',
      'RECORD_NOT_FOUND',
      'RECORD_REVISION_CONFLICT',
      'RECORD_SCHEMA_INVALID',
    ],
  },
  '/extensions/list': {
    request: { name: 'REPO_NAME', 'ref?': 'string 1..' },
    response: {
      ref: 'string',
      commitSha: 'string|null',
      canonicalRef: 'string',
      canonicalCommitSha: 'string|null',
      ...listOf(extension),
      'daemons?': 'object[] = []',
      ...inside('daemons?[]', daemon),
      ...listOf({ path: 'string', message: 'string' }, 'errors'),
    },
    errors: ['FEATURE_UNAVAILABLE'],
  },
  '/extensions/promote': {
    // A dry run is ours, beyond the interface.
    request: { name: 'REPO_NAME', 'ref?': 'string 1..', 'dryRun?': 'boolean' },
    response: { ref: 'string', oid: 'string', ...listOf(migrationPlanEntry, 'migrations') },
    errors: [
      'FEATURE_UNAVAILABLE',
      'RECORD_MIGRATION_BLOCKED',
      'EXTENSION_PROVENANCE',
      'EXTENSION_INVALID',
      'EXTENSION_BUILD_FAILED',
      'EXTENSION_NOT_FOUND',
    ],
  },
  '/daemons/list': {
    request: { name: 'REPO_NAME' },
    response: listOf(daemon),
    errors: ['FEATURE_UNAVAILABLE'],
  },
  '/runs/dispatch': {
    request: { name: 'REPO_NAME', extension: 'EXT_NAME', 'input?': 'any = {}', 'ref?': 'string 1..' },
    response: { run: 'object', ...inside('run', run) },
    errors: ['FEATURE_UNAVAILABLE', 'EXTENSION_NOT_FOUND', 'RUN_REJECTED'],
  },
  '/runs/logs': {
    request: { id: 'string 1..', 'cursor?': 'string', 'limit?': 'integer 1..250 = 100' },
    response: pageOf(logEvent),
    errors: ['FEATURE_UNAVAILABLE', 'RUN_NOT_FOUND'],
  },
  '/members/setRole': {
    request: { orgSlug: 'string 1..64 ^[a-z0-9][a-z0-9-]*$', userId: 'string 1..', role: 'admin|member' },
    response: member,
    errors: [],
  },
  '/invites/createAnonymous': {
    open: true,
    request: {
      name: 'REPO_NAME',
      'scope?': 'read|write = "read"',
      'grantTtlSeconds?': 'integer 60..86400 = 1800',
      'expiresIn?': 'integer = 604800',
      'maxReveals?': 'integer 1..1000',
    },
    response: newInvite,
    errors: [],
  },
  '/invites/reveal': {
    open: true,
    blind: true,
    request: { id: 'string 16..128' },
    response: revealedInvite,
    errors: ['INVITE_NOT_FOUND', 'INVITE_UNAVAILABLE'],
  },
  '/invites/listAnonymous': { open: true, request: {}, response: listOf(invite), errors: [] },
  '/webhooks/redeliver': {
    request: { name: 'REPO_NAME', deliveryId: 'uuid' },
    response: webhookDelivery,
    errors: webhookErrors,
  },
  '/webhooks/disable': {
    request: { name: 'REPO_NAME', webhook: 'EXT_NAME' },
    response: webhook,
    errors: webhookErrors,
  },
  '/webhooks/secret': {
    request: { name: 'REPO_NAME', webhook: 'EXT_NAME' },
    response: webhookSecret,
    errors: webhookErrors,
  },
}

const everywhere = ['BAD_REQUEST', 'EXTENSION_BUILD_UNAVAILABLE', 'REPO_WORKSPACE_REQUIRED']
const refusals = ['UNAUTHENTICATED', 'FORBIDDEN']

const named: Fields = { name: 'string' }
const namedRef: Fields = { name: 'string', ref: 'string' }
const namedObject: Fields = { name: 'string', object: 'string' }
const byId: Fields = { id: 'string' }
const bySlug: Fields = { slug: 'string' }
const namedRecord: Fields = { name: 'string', record: 'string' }

const declared: Record<string, [status: number, message: string, data: Fields]> = {
  BAD_REQUEST: [
    400,
    'Bad request',
    { 'issues?': 'object[]', 'issues?[].path?': '(string|number)[]', 'issues?[].message': 'string' },
  ],
  UNAUTHENTICATED: [401, 'Sign in required', {}],
  FORBIDDEN: [
    403,
    'You do not have access to this resource',
    { 'reason?': 'not_a_member|insufficient_role|scope_missing|write_frozen' },
  ],
  AGENT_CLAIM_WRONG_ACCOUNT: [
    403,
    'The agent asked for a different account to claim it',
    { claimEmail: 'string' },
  ],
  EXTENSION_NOT_FOUND: [
    404,
    'Extension not found',
    { name: 'string', extension: 'string', 'ref?': 'string' },
  ],
  RUN_NOT_FOUND: [404, 'Run not found', byId],
  INVITATION_NOT_FOUND: [404, 'Invitation not found', { invitationId: 'string' }],
  INVITE_NOT_FOUND: [404, 'Invite not found', {}],
  KEY_NOT_FOUND: [404, 'API key not found', byId],
  REPO_NOT_FOUND: [404, 'Repo not found', named],
  GIT_OBJECT_NOT_FOUND: [404, 'Git object not found', namedObject],
  AGENT_CLAIM_NOT_FOUND: [404, 'Claim link is invalid or has expired', {}],
  EXTENSION_PROVENANCE: [
    409,
    'Extension build provenance verification failed',
    { name: 'string', reason: 'string' },
  ],
  REF_ALREADY_EXISTS: [409, 'Git ref already exists', namedRef],
  STALE_REF: [409, 'Git ref is stale', namedRef],
  RECORD_MIGRATION_BLOCKED: [409, 'Record migration blocked', { name: 'string', reasons: 'string[]' }],
  REPO_ALREADY_EXISTS: [409, 'Repo already exists', named],
  ORG_LAST_OWNED: [409, 'Cannot delete your last owned organization', bySlug],
  ORG_HAS_REPOS: [
    409,
    'Cannot delete an organization that still owns repos',
    { slug: 'string', repoCount: 'integer 0..' },
  ],
  ORG_SLUG_TAKEN: [409, 'Organization slug is already taken', bySlug],
  INVITE_UNAVAILABLE: [
    410,
    'Invite is no longer available',
    { reason: 'revoked|expired|exhausted|repo_unavailable' },
  ],
  AGENT_CLAIM_UNAVAILABLE: [
    410,
    'This agent registration can no longer be claimed',
    { reason: 'previously_claimed|claim_expired|user_code_expired' },
  ],
  PAYLOAD_TOO_LARGE: [
    413,
    'Request payload exceeds the supported limit',
    { scope: 'workspace_commit|git_workspace_memory', limit: 'number', 'observed?': 'number' },
  ],
  EXTENSION_INVALID: [
    422,
    'Extension is invalid',
    { name: 'string', reason: 'string', 'extension?': 'string' },
  ],
  EXTENSION_BUILD_FAILED: [422, 'Extension build failed', { name: 'string', message: 'string' }],
  RUN_REJECTED: [422, 'Run rejected', { reason: 'string', 'id?': 'string' }],
  NON_FAST_FORWARD: [422, 'Git ref update is not a fast-forward', namedRef],
  INVALID_TREE: [422, 'Invalid git tree', namedObject],
  INVALID_PARENT: [422, 'Invalid git parent', namedObject],
  AGENT_CLAIM_CODE_INVALID: [422, 'The code does not match', {}],
  TOO_MANY_REQUESTS: [429, 'Too many requests', { 'retryAfterMs?': 'integer 0..' }],
  QUOTA_EXCEEDED: [
    429,
    'Quota exceeded',
    { scope: 'anon|org|size', limit: 'number', 'observed?': 'number', 'projected?': 'number' },
  ],
  GIT_REMOTE_WRITE_FAILED: [502, 'Git remote write failed', namedRef],
  IMPORT_FAILED: [502, 'Repo import failed', named],

  // The interface leaves the codes of these open.
  FEATURE_UNAVAILABLE: [404, 'Feature is not available', { feature: 'any' }],
  RECORD_SCHEMA_NOT_FOUND: [404, 'Canonical record schema not found', namedRecord],
  RECORD_NOT_FOUND: [404, 'Record not found', { ...namedRecord, id: 'string' }],
  AGENT_NOT_FOUND: [404, 'Agent registration not found', { registrationId: 'string' }],
  WEBHOOK_DELIVERY_NOT_FOUND: [404, 'Webhook delivery not found', { id: 'uuid' }],
  RECORD_REVISION_CONFLICT: [
    409,
    'Record revision conflict',
    { ...namedRecord, id: 'string', expectedRevision: 'integer', actualRevision: 'integer' },
  ],
  WEBHOOK_DELIVERY_NOT_TERMINAL: [409, 'Webhook delivery is not terminal', { id: 'uuid' }],
  RECORD_SCHEMA_INVALID: [422, 'Canonical record schema is invalid', { ...namedRecord, reason: 'string' }],
  EXTENSION_BUILD_UNAVAILABLE: [503, 'Extension build service is unavailable', named],
  REPO_WORKSPACE_REQUIRED: [503, 'Repo workspace is required for this git operation', named],
}

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema, read by hand below.
type JsonSchema = any

const NAMES: Record<string, string> = {
  'string 1..64 ^[a-z0-9][a-z0-9._-]*$': 'REPO_NAME',
  'string 1..64 ^[a-zA-Z0-9][a-zA-Z0-9._-]*$': 'EXT_NAME',
  'string ^[A-Za-z][A-Za-z0-9_]*$': 'RECORD_NAME',
  'string ^sha256:[0-9a-f]{64}$': 'HASH',
}

/** Writes a schema in the notation of the tables above. */
function fieldsOf(schema: JsonSchema, at = ''): Fields {
  const fields: Fields = {}
  for (const [name, property] of Object.entries<JsonSchema>(schema.properties ?? {})) {
    const path = `${at}${name}${schema.required?.includes(name) ? '' : '?'}`
    fields[path] = describeField(property)
    const [value] = alternatives(property)
    if (value?.type === 'object') Object.assign(fields, fieldsOf(value, `${path}.`))
    if (value?.type === 'array' && value.items.type === 'object')
      Object.assign(fields, fieldsOf(value.items, `${path}[].`))
  }
  return fields
}

/** What a value may be, null left out. */
function alternatives(schema: JsonSchema): JsonSchema[] {
  if (schema.anyOf) return schema.anyOf.filter((one: JsonSchema) => one.type !== 'null')
  if (Array.isArray(schema.type))
    return schema.type.filter((type: string) => type !== 'null').map((type: string) => ({ ...schema, type }))
  return [schema]
}

function describeField(schema: JsonSchema): string {
  const types = schema.anyOf?.map((one: JsonSchema) => one.type) ?? [schema.type].flat()
  const value = alternatives(schema).map(describeValue).join('|')
  const fallback = schema.default === undefined ? '' : ` = ${JSON.stringify(schema.default)}`
  return `${value}${types.includes('null') ? '|null' : ''}${fallback}`
}

function describeValue(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.join('|')
  if (schema.format) return schema.format
  if (schema.type === undefined) return 'any'
  if (schema.type === 'array') {
    const items = describeField(schema.items)
    return `${items.includes('|') ? `(${items})` : items}[]${range(schema.minItems, schema.maxItems)}`
  }
  if (schema.type === 'string') {
    // That some characters are in no name and no id is not news.
    const pattern = /^\^\[\^[^\]]*\]\*\$$/.test(schema.pattern ?? '') ? undefined : schema.pattern
    const text = `string${range(schema.minLength, schema.maxLength)}${pattern ? ` ${pattern}` : ''}`
    return NAMES[text] ?? text
  }
  return `${schema.type}${range(schema.minimum, schema.maximum)}`
}

function range(min?: number, max?: number): string {
  const low = min === undefined || min === Number.MIN_SAFE_INTEGER ? '' : String(min)
  const high = max === undefined || max === Number.MAX_SAFE_INTEGER ? '' : String(max)
  return low || high ? ` ${low}..${high}` : ''
}

const jsonSchema = (schema: unknown): JsonSchema =>
  z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' })

function find(path: string): AnyContractProcedure {
  const found = path
    .slice(1)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], contract)
  assert.ok(isContractProcedure(found), `${path} is not in the contract`)
  return found
}

describe('the contract', () => {
  it('has the version and the path of the interface', () => {
    assert.equal(INTERFACE_VERSION, '0.7.0')
    assert.equal(API_PREFIX, '/api/v1')
    assert.equal(Object.keys(operations).length, 23)
    assert.equal(Object.keys(declared).length, 44)
  })

  for (const [path, published] of Object.entries(operations)) {
    it(`asks for and answers what the interface says at ${path}`, () => {
      const { route, inputSchema, outputSchema, meta } = find(path)['~orpc']
      assert.deepEqual([route.method, route.path], ['POST', path])
      assert.deepEqual(fieldsOf(jsonSchema(inputSchema)), published.request)
      assert.deepEqual(fieldsOf(jsonSchema(outputSchema)), published.response)
      assert.equal(meta.admission === 'anyone', published.open ?? false)
    })

    it(`declares the errors the interface lists at ${path}`, () => {
      const { errorMap } = find(path)['~orpc']
      const common = published.blind ? everywhere : [...everywhere, ...refusals]
      for (const code of [...common, ...published.errors])
        assert.equal(errorMap[code], errors[code as keyof typeof errors], code)
      if (published.blind) for (const code of refusals) assert.equal(errorMap[code], undefined, code)
    })
  }

  it('declares every error of the interface, and no other', () => {
    assert.deepEqual(Object.keys(errors).toSorted(), Object.keys(declared).toSorted())
  })

  for (const [code, [status, message, data]] of Object.entries(declared))
    it(`declares ${code} with its status, message and data`, () => {
      const found = errors[code as keyof typeof errors]
      assert.equal(found.status, status)
      assert.equal(found.message, message)
      assert.deepEqual(fieldsOf(jsonSchema(found.data)), data)
    })
})

describe('the schemas of the contract', () => {
  const parse = (path: string, input: unknown) => {
    const result = find(path)['~orpc'].inputSchema?.['~standard'].validate(input)
    assert.ok(result && !(result instanceof Promise))
    return result.issues ? undefined : (result.value as Record<string, unknown>)
  }
  const accepts = (path: string, input: object) => parse(path, input) !== undefined

  it('take names up to their limits, and nothing else', () => {
    for (const name of ['a', '0', 'a.b_c-d', 'a'.repeat(64), '0-', 'a..'])
      assert.ok(accepts('/repos/create', { name }), name)
    for (const name of [
      '',
      'A',
      '-a',
      '.a',
      '_a',
      'a b',
      'a/b',
      'é',
      'a\n',
      'a'.repeat(65),
      'a\0',
      7,
      null,
      ['a'],
    ])
      assert.ok(!accepts('/repos/create', { name }), JSON.stringify(name))
    for (const webhook of ['A', 'a.B_c-9', 'Z'.repeat(64)])
      assert.ok(accepts('/webhooks/disable', { name: 'a', webhook }), webhook)
    for (const webhook of ['', '-a', 'a b', 'a'.repeat(65), 'a\n'])
      assert.ok(!accepts('/webhooks/disable', { name: 'a', webhook }), webhook)
    for (const record of ['A', 'a_1', 'x'.repeat(200)])
      assert.ok(accepts('/records/list', { name: 'a', record }), record)
    for (const record of ['', '1a', '_a', 'a-b', 'a\n'])
      assert.ok(!accepts('/records/list', { name: 'a', record }), record)
    for (const orgSlug of ['a', '0-a', 'a'.repeat(64)])
      assert.ok(accepts('/members/setRole', { orgSlug, userId: 'u', role: 'admin' }), orgSlug)
    for (const orgSlug of ['', '-a', 'a_b', 'a.b', 'A', 'a'.repeat(65)])
      assert.ok(!accepts('/members/setRole', { orgSlug, userId: 'u', role: 'admin' }), orgSlug)
  })

  it('fill in the defaults', () => {
    assert.deepEqual(parse('/repos/create', { name: 'a' }), { name: 'a', defaultBranch: 'main' })
    assert.deepEqual(parse('/repos/list', {}), { limit: 50 })
    assert.deepEqual(parse('/git/branches/list', { name: 'a' }), { name: 'a', limit: 50 })
    assert.deepEqual(parse('/runs/logs', { id: 'r' }), { id: 'r', limit: 100 })
    assert.deepEqual(parse('/records/list', { name: 'a', record: 'R' }), {
      name: 'a',
      record: 'R',
      limit: 100,
    })
    assert.deepEqual(parse('/runs/dispatch', { name: 'a', extension: 'e' }), {
      name: 'a',
      extension: 'e',
      input: {},
    })
    assert.deepEqual(parse('/invites/createAnonymous', { name: 'a' }), {
      name: 'a',
      scope: 'read',
      grantTtlSeconds: 1800,
      expiresIn: 604_800,
    })
  })

  it('take numbers up to their limits, and whole ones only', () => {
    const limits: [string, object, string, number, number][] = [
      ['/repos/list', {}, 'limit', 1, 100],
      ['/git/branches/list', { name: 'a' }, 'limit', 1, 100],
      ['/runs/logs', { id: 'r' }, 'limit', 1, 250],
      ['/records/list', { name: 'a', record: 'R' }, 'limit', 1, 1000],
      ['/invites/createAnonymous', { name: 'a' }, 'grantTtlSeconds', 60, 86_400],
      ['/invites/createAnonymous', { name: 'a' }, 'maxReveals', 1, 1000],
    ]
    for (const [path, rest, field, min, max] of limits) {
      for (const good of [min, max]) assert.ok(accepts(path, { ...rest, [field]: good }), `${path} ${good}`)
      for (const bad of [min - 1, max + 1, min + 0.5, String(min), null, Number.NaN])
        assert.ok(!accepts(path, { ...rest, [field]: bad }), `${path} ${bad}`)
    }
  })

  it('clamp the lifetime of an invite instead of refusing it', () => {
    const lifetime = (expiresIn: number) =>
      parse('/invites/createAnonymous', { name: 'a', expiresIn })?.expiresIn
    assert.deepEqual(
      [-1, 0, 59, 60, 3600, 2_592_000, 2_592_001, Number.MAX_SAFE_INTEGER].map(lifetime),
      [60, 60, 60, 60, 3600, 2_592_000, 2_592_000, 2_592_000],
    )
    assert.equal(lifetime(1.5), undefined)
  })

  it('take a claim code of exactly six digits', () => {
    const code = (userCode: unknown) => accepts('/agents/claimComplete', { claimAttemptToken: 't', userCode })
    assert.ok(code('000000'))
    for (const bad of ['12345', '1234567', '12345a', ' 123456', '123456\n', '١٢٣٤٥٦', 123_456])
      assert.ok(!code(bad), String(bad))
  })

  it('take any cursor that is a string', () => {
    for (const cursor of ['', 'garbage', '\0', '💥']) assert.ok(accepts('/repos/list', { cursor }), cursor)
  })

  it('take no body where there is none', () => {
    for (const path of ['/keys/list', '/invites/listAnonymous']) assert.ok(accepts(path, {}))
  })

  it('need a version in an extension, whatever it is', () => {
    const listed = find('/extensions/list')['~orpc'].outputSchema as z.ZodObject<{
      items: z.ZodArray<z.ZodObject<{ version: z.ZodType }>>
    }>
    const { version } = listed.shape.items.element.shape
    for (const value of [null, 0, '', {}, []]) assert.ok(version.safeParse(value).success)
    assert.ok(!version.safeParse(undefined).success)
  })
})

describe('the typed client', () => {
  const app = useApp(createSqlite)

  it('gives a declared error with its code and its data', async () => {
    const trellis = app.client(app.ownerKey)
    await trellis.repos.create({ name: 'twice' })
    const { error, isDefined, data } = await safe(trellis.repos.create({ name: 'twice' }))
    assert.equal(data, undefined)
    assert.ok(isDefined && error.code === 'REPO_ALREADY_EXISTS')
    const name: string = error.data.name
    assert.deepEqual([error.status, error.message, name], [409, 'Repo already exists', 'twice'])
    assert.deepEqual(Object.keys(error.toJSON()).toSorted(), Object.keys(ErrorEnvelope.shape).toSorted())
  })

  it('gives what is wrong with the input', async () => {
    const { error } = await safe(app.client(app.ownerKey).repos.list({ limit: 101 }))
    assert.ok(isDefinedError(error) && error.code === 'BAD_REQUEST')
    assert.deepEqual(error.data.issues?.[0]?.path, ['limit'])
  })

  it('gives a missing credential as such', async () => {
    const { error } = await safe(app.client().repos.list({}))
    assert.ok(isDefinedError(error) && error.code === 'UNAUTHENTICATED')
    const { error: forbidden } = await safe(app.client(app.ownerKey, 'elsewhere').repos.list({}))
    assert.ok(isDefinedError(forbidden) && forbidden.code === 'FORBIDDEN')
    assert.equal(forbidden.data.reason, 'not_a_member')
  })

  it('tells an error that is not declared from one that is', async () => {
    // Nothing listens for the API below this path.
    const astray = createTrellisClient({ url: app.url, fetch: () => fetch(`${app.url}/nothing`) })
    const { error, isDefined } = await safe(astray.repos.list({}))
    assert.ok(error instanceof TrellisError)
    assert.equal(isDefined, false)
    assert.deepEqual([error.code, error.status, error.defined], ['NOT_FOUND', 404, false])
  })
})
