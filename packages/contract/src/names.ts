import * as z from 'zod'

export const RepoName = z
  .string()
  .min(1)
  .max(64)
  .regex(
    /^[a-z0-9][a-z0-9._-]*$/,
    'Use lowercase letters, digits, dots, dashes and underscores, starting with a letter or digit',
  )
  .meta({ description: 'Unique inside its organization.', examples: ['hello'] })

export const ExtensionName = z
  .string()
  .min(1)
  .max(64)
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/,
    'Use letters, digits, dots, dashes and underscores, starting with a letter or digit',
  )
  .meta({ examples: ['triage'] })

export const RecordName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]*$/, 'Use letters, digits and underscores, starting with a letter')
  .meta({ examples: ['task'] })

export const Hash = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .meta({ examples: [`sha256:${'0'.repeat(64)}`] })

export const OrgSlug = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'Use lowercase letters, digits and dashes, starting with a letter or digit')
  .meta({ description: 'The name of an organization in addresses.', examples: ['acme'] })

export const DisplayName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u, 'Control characters are not allowed')
  .meta({ description: 'A name people read: one line, not blank.', examples: ['Build server'] })

/** No NUL: no database could hold one. */
export const Id = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'NUL characters are not allowed')
  .describe('An id or secret, as an earlier answer gave it.')

export const Timestamp = z.number().meta({ description: 'Unix milliseconds.', examples: [1767225600000] })

export const IsoTime = z
  .string()
  .meta({ description: 'ISO 8601, in UTC, with milliseconds.', examples: ['2026-01-01T00:00:00.000Z'] })

/** Up to the largest integer a JSON number carries exactly. */
export const Counter = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

export const Uuid = z.uuid().meta({ examples: ['019b76da-a800-7000-8000-000000000000'] })

/** Any JSON value, present: `undefined` is what a missing key reads as. */
export const AnyJson = z.nonoptional(z.unknown(), 'Required')

export const JsonObject = z.record(z.string(), z.unknown())

export const StringList = z.array(z.string())

export const Role = z.enum(['owner', 'admin', 'member'])
export type Role = z.infer<typeof Role>

export const AccessScope = z
  .enum(['read', 'write'])
  .describe('What git may do with it: fetch, or fetch and push.')
export type AccessScope = z.infer<typeof AccessScope>

export const Scope = z
  .enum([
    'repo:read',
    'repo:write',
    'repo:admin',
    'org:read',
    'org:admin',
    'keys:read',
    'keys:write',
    'account',
    '*',
  ])
  .describe(
    'What a credential may do. Each level includes the ones before it in its family; `*` is all of these. A key with `account` may do it in every organization its maker is in, named by `Trellis-Org`; `*` does not include that.',
  )
export type Scope = z.infer<typeof Scope>

export const ActorKind = z.enum(['user', 'anonymous', 'system', 'agent', 'mcp'])
export type ActorKind = z.infer<typeof ActorKind>

export const Actor = z.object({ kind: ActorKind, id: z.string() }).describe('Who did it.')
export type Actor = z.infer<typeof Actor>

/** Where names and ids are asked for, what they may be is checked against the repository. */
export const Oid = z
  .string()
  .min(1)
  .meta({
    description: 'The full id of a git object.',
    examples: ['8ab686eafeb1f44702738c8b0f24f2567c36da6d'],
  })

export const Revision = z
  .string()
  .min(1)
  .meta({ description: 'A commit id, a branch, a tag or a full ref name.', examples: ['main'] })

export const Message = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'NUL characters are not allowed')
  .meta({ description: 'Of a commit or tag.', examples: ['Say hello'] })

export const Person = z
  .object({
    name: z
      .string()
      .min(1)
      .regex(/^[^<>\n\0]*$/, 'Angle brackets and line breaks are not allowed')
      .meta({ examples: ['Ana'] }),
    email: z.email().meta({ examples: ['ana@example.com'] }),
    timestamp: z
      .int()
      .optional()
      .describe(
        'Unix milliseconds; a number that would lie before 1973 is taken for seconds. Now when left out.',
      ),
    timezoneOffset: z
      .int()
      .optional()
      .meta({
        description: 'In minutes, as `Date.getTimezoneOffset()` gives it: -120 stands for +0200.',
        examples: [-120],
      }),
  })
  .describe('Somebody in a commit or tag, and when. The caller, now, when left out.')
export type Person = z.infer<typeof Person>
