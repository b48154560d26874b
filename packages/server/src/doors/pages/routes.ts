import type { PublishedSchemas } from '../../extensions/published-schemas.ts'
import type { Console } from '../console/door.ts'
import type { Route, Routes } from '../http/door.ts'
import { send, sendJson } from '../http/exchange.ts'
import { createApiDocuments } from './documents.ts'
import { type Limits, presentLimits } from './limits.ts'
import { icon } from './mark.ts'
import { pageCss } from './page-css.ts'
import { PASSKEY_SCRIPT, passkeyScript } from './passkey-script.ts'
import { referenceCss } from './reference-css.ts'
import { REFERENCE_SCRIPT, referenceScript } from './reference-script.ts'

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
  /** What people begin with; programs begin at the reference, and so do people where there is none. */
  console: Console | undefined
  /** Of the files that declare extensions and webhooks, for editors. */
  descriptorSchemas: PublishedSchemas
}

const REFERENCE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'"

const READ_BY_EDITORS = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' }

/** Everything that is read with GET at a path of its own. */
export function createPageRoutes(deps: PageRoutesDeps): Routes {
  const { baseUrl, limits, whyUnready, problems, runtimesOff, metrics, console, descriptorSchemas } = deps
  const documents = createApiDocuments({ baseUrl, hasConsole: console !== undefined })

  return {
    'GET /': (exchange) =>
      console?.isVisit(exchange)
        ? console.page(exchange)
        : send(exchange, 302, 'text/plain; charset=utf-8', '', { location: '/reference' }),
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
        'content-security-policy': REFERENCE_POLICY,
        'cache-control': 'public, max-age=300',
      }),
    'GET /page.css': part('text/css', `${console?.fonts ?? ''}${pageCss}`),
    'GET /theme.js': console?.theme ?? part('text/javascript', ''),
    'GET /icon.svg': (exchange) =>
      send(exchange, 200, 'image/svg+xml', icon, { 'cache-control': 'public, max-age=86400' }),
    'GET /reference.css': part('text/css', `${console?.fonts ?? ''}${referenceCss}`),
    [`GET ${PASSKEY_SCRIPT}`]: part('text/javascript', passkeyScript),
    [`GET ${REFERENCE_SCRIPT}`]: part('text/javascript', referenceScript),
  }
}

/** What pages are made of beside themselves. */
const part =
  (type: string, text: string): Route =>
  (exchange) =>
    send(exchange, 200, `${type}; charset=utf-8`, text, { 'cache-control': 'public, max-age=300' })
