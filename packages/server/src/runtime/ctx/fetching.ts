// Standard Fetch, done by the host: whether a host may be reached, what redirects lead to, how much comes back and how
// long it may take is decided there.

import type { Call } from './context.ts'

/** The only argument of `fetch`. Bodies are base64. */
export interface WireRequest {
  url: string
  method: string
  headers: [string, string][]
  body?: string
  redirect: 'follow' | 'error' | 'manual'
}

/** The body is as it was before it was encoded for the way, and no header speaks of another. */
export interface WireResponse {
  status: number
  statusText: string
  headers: [string, string][]
  body?: string
  url: string
  redirected: boolean
}

const WITHOUT_BODY = [204, 205, 304]

export const fetchThrough =
  (call: Call): typeof fetch =>
  async (input, init) => {
    // Workerd makes no request that is to fail when it is redirected, and nothing is sent by this one.
    const isStrict = init?.redirect === 'error'
    const request = new Request(input, isStrict ? { ...init, redirect: 'manual' } : init)
    request.signal?.throwIfAborted()
    const body = request.body && new Uint8Array(await request.arrayBuffer())
    const wire: WireRequest = {
      url: request.url,
      method: request.method,
      headers: [...request.headers],
      ...(body && { body: body.toBase64() }),
      redirect: isStrict ? 'error' : request.redirect,
    }
    const answer = (await unlessAborted(request.signal, call('fetch', [wire]).catch(failed))) as WireResponse
    const bytes = answer.body === undefined ? null : Uint8Array.fromBase64(answer.body)
    const response = new Response(WITHOUT_BODY.includes(answer.status) ? null : bytes, answer)
    for (const key of ['url', 'redirected'] as const)
      Object.defineProperty(response, key, { value: answer[key] })
    return response
  }

/** What the network does is told as Fetch tells it. */
function failed(thrown: unknown): never {
  if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'FETCH_FAILED')) throw thrown
  throw Object.assign(new TypeError(thrown.message), { code: thrown.code, data: null })
}

/** The host goes on until its own bounds end it: nobody waits for that. */
function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work
  const { promise, reject } = Promise.withResolvers<T>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  work.catch(() => {})
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}
