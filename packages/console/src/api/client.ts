import type { TrellisClient } from '@trellis/contract/client'
import { readError, unreachable } from './errors.ts'

const API = '/api/v1'

export type Api = TrellisClient

interface CallOptions {
  signal?: AbortSignal | undefined
}

/**
 * The operations of the contract as the person who is signed in, in one organization: `trellis('acme').repos.list({})`.
 * An operation's path is the way to it, so types are all there is to know about one.
 */
export function trellis(org: string | undefined): Api {
  const known = clients.get(org)
  if (known) return known
  const made = below([], (path, input, options) => call(org, path, input, options)) as Api
  clients.set(org, made)
  return made
}

const clients = new Map<string | undefined, Api>()

type Call = (path: string, input: unknown, options?: CallOptions) => unknown

function below(way: string[], call: Call): unknown {
  const parts = new Map<string, unknown>()
  return new Proxy(() => undefined, {
    get(_, part) {
      if (typeof part !== 'string' || part === 'then') return undefined
      const known = parts.get(part) ?? below([...way, part], call)
      parts.set(part, known)
      return known
    },
    apply: (_, __, [input, options]: [unknown, CallOptions?]) => call(way.join('/'), input, options),
  })
}

/** The path of an operation: `repos/list` of `(api) => api.repos.list`. */
export const pathOf = (pick: (api: Api) => unknown): string => (pick(paths) as () => string)()

const paths = below([], (path) => path) as Api

async function call(
  org: string | undefined,
  path: string,
  input: unknown = {},
  { signal }: CallOptions = {},
): Promise<unknown> {
  const response = await fetch(`${API}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(org && { 'trellis-org': org }) },
    body: JSON.stringify(input),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable()
  })
  if (!response.ok) throw await readError(response)
  return response.json()
}

/** Where a tail of a log is: `tailPath('acme', 'events/tail', { name })`. */
export function tailPath(org: string, path: string, query: Record<string, string> = {}): string {
  return `${API}/${path}?${new URLSearchParams({ ...query, org })}`
}
