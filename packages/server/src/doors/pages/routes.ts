import type { PublishedSchemas } from '../../extensions/published-schemas.ts'
import type { Route, Routes } from '../http/door.ts'
import { send, sendJson } from '../http/exchange.ts'
import { createApiDocuments } from './documents.ts'
import { pageCss } from './layout.ts'
import { type Limits, presentLimits } from './limits.ts'
import { PASSKEY_SCRIPT, passkeyScript } from './passkey-script.ts'
import { referenceCss } from './reference.ts'

interface PageRoutesDeps {
  baseUrl: string
  limits: Limits
  /** Why the server cannot do its work; undefined when it can. */
  whyUnready(): Promise<string | undefined>
  /** What else stands in the way of its work, in words for the operator. */
  problems(): string[]
  /** Which runtimes of extensions are off and why, in words for the operator. */
  runtimesOff: readonly string[]
  metrics: Route
  /** Of the files that declare extensions and webhooks, for editors. */
  descriptorSchemas: PublishedSchemas
}

const PAGE_POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"

const READ_BY_EDITORS = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' }

/** Everything that is read with GET at a path of its own. */
export function createPageRoutes(deps: PageRoutesDeps): Routes {
  const { baseUrl, limits, whyUnready, problems, runtimesOff, metrics, descriptorSchemas } = deps
  const documents = createApiDocuments(baseUrl)

  return {
    'GET /': (exchange) => send(exchange, 302, 'text/plain; charset=utf-8', '', { location: '/reference' }),
    'GET /healthz': (exchange) => sendJson(exchange, 200, { status: 'ok' }),
    'GET /readyz': async (exchange) => {
      const found = problems()
      const reason = (await whyUnready()) ?? found[0]
      const off = runtimesOff.length > 0 && { runtimesOff }
      if (reason === undefined) return sendJson(exchange, 200, { status: 'ready', ...off })
      const answer = { status: 'unavailable', reason, ...(found.length > 0 && { problems: found }) }
      sendJson(exchange, 503, answer, { 'retry-after': '2' })
    },
    'GET /metrics': metrics,
    'GET /limits': (exchange) => sendJson(exchange, 200, presentLimits(limits)),
    'GET /openapi.json': async (exchange) =>
      send(exchange, 200, 'application/json; charset=utf-8', (await documents()).openApi, {
        'cache-control': 'public, max-age=300',
      }),
    'GET /schemas/extension.json': (exchange) =>
      sendJson(exchange, 200, descriptorSchemas.extension, READ_BY_EDITORS),
    'GET /schemas/webhook.json': (exchange) =>
      sendJson(exchange, 200, descriptorSchemas.webhook, READ_BY_EDITORS),
    'GET /reference': async (exchange) =>
      send(exchange, 200, 'text/html; charset=utf-8', (await documents()).reference, {
        'content-security-policy': PAGE_POLICY,
        'cache-control': 'public, max-age=300',
      }),
    'GET /page.css': (exchange) =>
      send(exchange, 200, 'text/css; charset=utf-8', pageCss, { 'cache-control': 'public, max-age=300' }),
    [`GET ${PASSKEY_SCRIPT}`]: (exchange) =>
      send(exchange, 200, 'text/javascript; charset=utf-8', passkeyScript, {
        'cache-control': 'public, max-age=300',
      }),
    'GET /reference.css': (exchange) =>
      send(exchange, 200, 'text/css; charset=utf-8', referenceCss, {
        'cache-control': 'public, max-age=300',
      }),
  }
}
