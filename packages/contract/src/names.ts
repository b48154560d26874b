import * as z from 'zod'

export const RepoName = z
  .string()
  .min(1)
  .max(64)
  .regex(
    /^[a-z0-9][a-z0-9._-]*$/,
    'Use lowercase letters, digits, dots, dashes and underscores, starting with a letter or digit',
  )

export const ExtensionName = z
  .string()
  .min(1)
  .max(64)
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/,
    'Use letters, digits, dots, dashes and underscores, starting with a letter or digit',
  )

export const RecordName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]*$/, 'Use letters, digits and underscores, starting with a letter')

export const Hash = z.string().regex(/^sha256:[0-9a-f]{64}$/)

export const OrgSlug = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'Use lowercase letters, digits and dashes, starting with a letter or digit')

/** A name people read: one line, not blank. */
export const DisplayName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u, 'Control characters are not allowed')

/** An id or secret a client hands back. No NUL: no database could hold one. */
export const Id = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'NUL characters are not allowed')

/** Unix milliseconds. */
export const Timestamp = z.number()

/** The largest integer a JSON number carries exactly. */
export const Counter = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

export const Uuid = z.uuid()

/** Any JSON value, present: `undefined` is what a missing key reads as. */
export const AnyJson = z.unknown().refine((value) => value !== undefined, 'Required')

export const JsonObject = z.record(z.string(), z.unknown())

export const StringList = z.array(z.string())

export const Role = z.enum(['owner', 'admin', 'member'])
export type Role = z.infer<typeof Role>

export const AccessScope = z.enum(['read', 'write'])
export type AccessScope = z.infer<typeof AccessScope>

/** What a credential may be allowed to do. Each level includes the ones before it in its family. */
export const Scope = z.enum([
  'repo:read',
  'repo:write',
  'repo:admin',
  'org:read',
  'org:admin',
  'keys:read',
  'keys:write',
  '*',
])
export type Scope = z.infer<typeof Scope>

export const ActorKind = z.enum(['user', 'anonymous', 'system', 'agent', 'mcp'])
export type ActorKind = z.infer<typeof ActorKind>

export const Actor = z.object({ kind: ActorKind, id: z.string() })
export type Actor = z.infer<typeof Actor>

/** Of a commit or tag. */
export const Message = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'NUL characters are not allowed')

/** Somebody in a commit or tag, and when. */
export const Person = z.object({
  name: z
    .string()
    .min(1)
    .regex(/^[^<>\n\0]*$/, 'Angle brackets and line breaks are not allowed'),
  email: z.email(),
  /** Unix milliseconds; a number that would lie before 1973 is taken for seconds. */
  timestamp: z.int().optional(),
  /** In minutes, as `Date.getTimezoneOffset()` gives it: -120 stands for +0200. */
  timezoneOffset: z.int().optional(),
})
export type Person = z.infer<typeof Person>
