import { oc } from '@orpc/contract'
import { type ErrorCode, type ErrorDeclaration, errors } from './errors.ts'
import type { Scope } from './names.ts'

/** Who may call an operation. */
export type Admission =
  /** Any caller, with or without a credential. */
  | 'anyone'
  /** Any accepted credential. */
  | 'credential'
  /** A person in a session: never a key, a repository token or an agent. */
  | 'session'

export interface OperationMeta extends Record<string, unknown> {
  admission: Admission
  /** No credential is looked at, so one that has run out changes nothing. */
  ignoresCredential?: boolean
  /** The power the caller needs, on the repository or organization the input addresses. */
  needs?: Exclude<Scope, '*' | 'account'>
  /** How large the body may be: as any JSON, or with files in it. */
  body: 'json' | 'commit'
}

/** Every operation may fail in these ways. */
const everywhere = ['BAD_REQUEST', 'PAYLOAD_TOO_LARGE', 'TOO_MANY_REQUESTS'] as const satisfies ErrorCode[]

/** And in these, where a credential is looked at: it is not accepted, or not in the organization asked for. */
const identified = ['UNAUTHENTICATED', 'FORBIDDEN'] as const satisfies ErrorCode[]

/** The published interface lists these on each of its operations, also on those that need neither. */
export const unready = [
  'EXTENSION_BUILD_UNAVAILABLE',
  'REPO_WORKSPACE_REQUIRED',
] as const satisfies ErrorCode[]

/** Of whatever looks at extensions of some commit. */
export const atSomeRef = [
  'REPO_NOT_FOUND',
  'GIT_OBJECT_NOT_FOUND',
  'FEATURE_UNAVAILABLE',
  ...unready,
] as const satisfies ErrorCode[]

/** Of whatever needs one of them to be there, and sound. */
export const ofOneExtension = [
  ...atSomeRef,
  'EXTENSION_NOT_FOUND',
  'EXTENSION_INVALID',
  'EXTENSION_BUILD_FAILED',
] as const satisfies ErrorCode[]

interface Declaration<Code extends ErrorCode, Ignores extends boolean> extends Partial<OperationMeta> {
  summary: string
  tag: string
  /** Beside those that every operation has. */
  errors?: readonly Code[]
  ignoresCredential?: Ignores
}

type Common<Ignores extends boolean> =
  | (typeof everywhere)[number]
  | (Ignores extends true ? never : (typeof identified)[number])

const base = oc.$meta<OperationMeta>({ admission: 'credential', body: 'json' })

/** An operation at `POST {path}`; input and output follow with `.input()` and `.output()`. */
export function operation<const Code extends ErrorCode = never, const Ignores extends boolean = false>(
  path: `/${string}`,
  declaration: Declaration<Code, Ignores>,
) {
  const { summary, tag, errors: own = [], ...meta } = declaration
  const common = meta.ignoresCredential ? everywhere : [...everywhere, ...identified]
  return base
    .route({
      method: 'POST',
      path,
      summary,
      tags: [tag],
      operationId: path.slice(1).replaceAll('/', '.'),
      description: describe(meta),
      spec: (operation) => (meta.admission === 'anyone' ? { ...operation, security: [{}] } : operation),
    })
    .meta(meta as OperationMeta)
    .errors(pick<Common<Ignores> | Code>([...common, ...own]))
}

function describe({ admission, ignoresCredential, needs }: Partial<OperationMeta>): string {
  if (ignoresCredential) return 'Needs no credential, and looks at none.'
  if (admission === 'anyone') return 'Needs no credential; one that is sent counts.'
  if (admission === 'session') return 'Needs a signed-in person: a session, never a key or a token.'
  return needs ? `Needs \`${needs}\`.` : 'Needs a credential.'
}

/** Named, so that declarations say which errors and not everything about each of them. */
export type ErrorsOf<Code extends ErrorCode> = { [C in Code]: (typeof errors)[C] }

export function pick<Code extends ErrorCode>(codes: readonly ErrorCode[]): ErrorsOf<Code> {
  const picked: Record<string, ErrorDeclaration> = {}
  for (const code of codes) picked[code] = errors[code]
  return picked as ErrorsOf<Code>
}
