import { API_PREFIX, Scope } from '@trellis/contract'
import type { Route, Routes } from '../http/door.ts'
import { send, sendJson } from '../http/exchange.ts'
import { authMd, llmsTxt } from './auth-md.ts'
import { GRANT_TYPES } from './door.ts'

/** How a program that was answered 401 finds out by itself what to do next. */
export function createDiscovery(baseUrl: string, agentsMayRegister: boolean): Routes {
  const scopes = Scope.options.filter((scope) => scope !== '*' && scope !== 'account')
  const resource = {
    resource: baseUrl,
    resource_name: 'Trellis',
    authorization_servers: [baseUrl],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_documentation: `${baseUrl}/auth.md`,
  }
  const server = {
    issuer: baseUrl,
    token_endpoint: `${baseUrl}/oauth2/token`,
    revocation_endpoint: `${baseUrl}/oauth2/revoke`,
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
    grant_types_supported: GRANT_TYPES,
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['none'],
    scopes_supported: scopes,
    agent_auth: {
      skill: `${baseUrl}/auth.md`,
      identity_endpoint: `${baseUrl}/agent/identity`,
      claim_endpoint: `${baseUrl}/agent/identity/claim`,
      identity_types_supported: agentsMayRegister ? ['anonymous', 'service_auth'] : [],
    },
  }
  const cached = { 'cache-control': 'public, max-age=300' }
  const text = (type: string, content: string): Route => {
    return (exchange) => send(exchange, 200, `${type}; charset=utf-8`, content, cached)
  }
  return {
    'GET /.well-known/oauth-protected-resource': (exchange) => sendJson(exchange, 200, resource, cached),
    'GET /.well-known/oauth-authorization-server': (exchange) => sendJson(exchange, 200, server, cached),
    'GET /auth.md': text('text/markdown', authMd(baseUrl, `${baseUrl}${API_PREFIX}`)),
    'GET /llms.txt': text('text/plain', llmsTxt(baseUrl, `${baseUrl}${API_PREFIX}`)),
  }
}
