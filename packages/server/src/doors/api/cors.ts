import type { OutgoingHttpHeaders } from 'node:http'
import { type Exchange, securityHeaders } from '../http/exchange.ts'

export type Cors = ReturnType<typeof createCors>

/** What is sent beside a credential: to operations, by those who follow a log, by clients of git. */
const sent = { POST: 'content-type', GET: 'last-event-id', 'GET, POST': 'content-type, accept, git-protocol' }

/** Lets pages of the configured origins call the API and git with a credential; never with a cookie. Off without origins. */
export function createCors(origins: readonly string[]) {
  const allowed = new Set(origins)
  return {
    headers({ request }: Exchange): OutgoingHttpHeaders | undefined {
      const { origin } = request.headers
      if (!origin || !allowed.has(origin)) return undefined
      return {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': 'x-request-id, retry-after, www-authenticate',
        'cross-origin-resource-policy': 'cross-origin',
        vary: 'origin',
      }
    },

    /** Answers the question a browser asks before it sends the real request. */
    preflight(
      { request, response, requestId }: Exchange,
      headers: OutgoingHttpHeaders,
      methods: keyof typeof sent = 'POST',
    ): boolean {
      if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return false
      response.writeHead(204, {
        ...securityHeaders,
        ...headers,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': `authorization, ${sent[methods]}, trellis-org`,
        'access-control-max-age': '600',
        'x-request-id': requestId,
      })
      response.end()
      return true
    },
  }
}
