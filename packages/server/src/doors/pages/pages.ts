import type { Config } from '../../platform/config.ts'
import { generateOpenApi } from '../api/openapi.ts'
import type { OpenApiDocument } from '../api/openapi-document.ts'
import type { Route, Routes } from '../http/door.ts'
import { send, sendJson } from '../http/exchange.ts'
import { pageCss } from './page.ts'
import { referenceCss, referencePage } from './reference.ts'

interface PagesDeps {
  baseUrl: string
  limits: Config['limits']
  /** Why the server cannot do its work; undefined when it can. */
  whyUnready(): Promise<string | undefined>
  metrics: Route
}

const PAGE_POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"

/** Everything that is read with GET at a path of its own. */
export function createPages({ baseUrl, limits, whyUnready, metrics }: PagesDeps): Routes {
  let document: Promise<OpenApiDocument> | undefined
  const openApi = () => {
    document ??= generateOpenApi(baseUrl)
    return document
  }

  return {
    'GET /': (exchange) => send(exchange, 302, 'text/plain; charset=utf-8', '', { location: '/reference' }),
    'GET /healthz': (exchange) => sendJson(exchange, 200, { status: 'ok' }),
    'GET /readyz': async (exchange) => {
      const reason = await whyUnready()
      if (reason === undefined) sendJson(exchange, 200, { status: 'ready' })
      else sendJson(exchange, 503, { status: 'unavailable', reason }, { 'retry-after': '2' })
    },
    'GET /metrics': metrics,
    'GET /limits': (exchange) => sendJson(exchange, 200, presentLimits(limits)),
    'GET /openapi.json': async (exchange) =>
      sendJson(exchange, 200, await openApi(), { 'cache-control': 'public, max-age=300' }),
    'GET /reference': async (exchange) =>
      send(exchange, 200, 'text/html; charset=utf-8', referencePage(await openApi()), {
        'content-security-policy': PAGE_POLICY,
        'cache-control': 'public, max-age=300',
      }),
    'GET /page.css': (exchange) =>
      send(exchange, 200, 'text/css; charset=utf-8', pageCss, { 'cache-control': 'public, max-age=300' }),
    'GET /reference.css': (exchange) =>
      send(exchange, 200, 'text/css; charset=utf-8', referenceCss, {
        'cache-control': 'public, max-age=300',
      }),
  }
}

/** The limits in force, for machines: what, how much, of which unit. */
function presentLimits(limits: Config['limits']) {
  return {
    requests: {
      perCredential: { perSecond: limits.requestsPerSecond, burst: limits.requestBurst },
      perAddress: { perSecond: limits.requestsPerSecond, burst: limits.requestBurst, exempt: ['loopback'] },
    },
    body: { jsonBytes: limits.bodyBytes, commitBytes: limits.commitBodyBytes, pushBytes: limits.pushBytes },
    repository: { bytes: limits.repoBytes, webhooks: limits.webhooksPerRepo },
    organization: { repositories: limits.reposPerOrg, bytes: limits.orgBytes },
    provisional: {
      seconds: limits.provisionalMs / 1000,
      repositories: limits.provisionalRepos,
      bytes: limits.provisionalBytes,
      agentsPerAddressAndDay: limits.registrationsPerAddress,
      repositoriesPerAddress: limits.anonymousReposPerAddress,
    },
    user: { ownedOrganizations: limits.orgsPerUser, keysPerOrganization: limits.keysPerUser },
  }
}
