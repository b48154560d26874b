import { type ErrorMap, oc } from '@orpc/contract'
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
  /** The power the caller needs, on the repository or organization the input addresses. */
  needs?: Exclude<Scope, '*'>
  /** How large the body may be: as any JSON, or with files in it. */
  body: 'json' | 'commit'
}

/** Every operation may fail in these ways. */
const everywhere = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'PAYLOAD_TOO_LARGE',
  'TOO_MANY_REQUESTS',
  'EXTENSION_BUILD_UNAVAILABLE',
  'REPO_WORKSPACE_REQUIRED',
] as const satisfies ErrorCode[]

interface Declaration<Code extends ErrorCode> extends Partial<OperationMeta> {
  summary: string
  tag: string
  errors?: readonly Code[]
}

const base = oc.$meta<OperationMeta>({ admission: 'credential', body: 'json' })

/** An operation at `POST {path}`; input and output follow with `.input()` and `.output()`. */
export function operation<const Code extends ErrorCode = never>(
  path: `/${string}`,
  declaration: Declaration<Code>,
) {
  const { summary, tag, errors: own = [], ...meta } = declaration
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
    .errors(pick([...everywhere, ...own]))
}

function describe({ admission, needs }: Partial<OperationMeta>): string {
  if (admission === 'anyone') return 'Needs no credential.'
  if (admission === 'session') return 'Needs a signed-in person: a session, never a key or a token.'
  return needs ? `Needs \`${needs}\`.` : 'Needs a credential.'
}

function pick<Code extends ErrorCode>(codes: readonly Code[]) {
  const picked: Record<string, ErrorDeclaration> = {}
  for (const code of codes) picked[code] = errors[code]
  return picked as { [C in Code]: (typeof errors)[C] } satisfies ErrorMap
}
