import assert from 'node:assert/strict'
import type { Json } from './json.ts'
import type { Answer, TestApp } from './test-app.ts'

const CLAIM_GRANT = 'urn:workos:agent-auth:grant-type:claim'
const ASSERTION_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** What an agent has to type into a page, and where. */
interface Ceremony {
  user_code: string
  expires_in: number
  interval: number
  verification_uri: string
}

/** An agent as a program would be one: it knows what the server told it, and nothing else. */
export interface TestAgent {
  registrationId: string
  claimToken: string
  assertion: string
  /** From before any claim. Empty for a service_auth agent, which has none. */
  token: string
  /** What registering answered. */
  registered: Json
  startClaim(email?: string): Promise<{ ceremony: Ceremony; attemptToken: string }>
  poll(): Promise<Answer>
  exchange(assertion?: string): Promise<Answer>
  /** Names a person, who then types the code; gives what the agent's poll answers. */
  beClaimed(person: { email: string; token: string }): Promise<{ poll: Json; attemptToken: string }>
}

/** Asks one of the endpoints for agents: JSON, or a form where the fields are given as one. */
export async function askAgentDoor(
  { url }: { url: string },
  path: string,
  body: object | URLSearchParams | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isForm = body instanceof URLSearchParams || typeof body === 'string'
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...(!isForm && { 'content-type': 'application/json' }), ...headers },
    body: isForm ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined }
}

export const pollClaim = (app: { url: string }, claimToken: string): Promise<Answer> =>
  askAgentDoor(
    app,
    '/oauth2/token',
    new URLSearchParams({ grant_type: CLAIM_GRANT, claim_token: claimToken }),
  )

export const exchangeAssertion = (app: { url: string }, assertion: string): Promise<Answer> =>
  askAgentDoor(app, '/oauth2/token', new URLSearchParams({ grant_type: ASSERTION_GRANT, assertion }))

export const refresh = (app: { url: string }, refreshToken: string): Promise<Answer> =>
  askAgentDoor(
    app,
    '/oauth2/token',
    new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }),
  )

/** The token in the link a person is to open. */
function attemptTokenIn({ verification_uri }: Ceremony): string {
  const returnTo = new URL(verification_uri).searchParams.get('return_to') ?? ''
  return new URL(returnTo, verification_uri).searchParams.get('claim_attempt_token') ?? ''
}

export async function startClaim(
  app: { url: string },
  claimToken: string,
  email?: string,
): Promise<{ ceremony: Ceremony; attemptToken: string }> {
  const answer = await askAgentDoor(app, '/agent/identity/claim', {
    claim_token: claimToken,
    ...(email && { login_hint: email }),
  })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const ceremony: Ceremony = answer.body.claim_attempt
  return { ceremony, attemptToken: attemptTokenIn(ceremony) }
}

export async function registerAgent(
  app: TestApp,
  body: object = { type: 'anonymous' },
  headers: Record<string, string> = {},
): Promise<TestAgent> {
  const { status, body: registered } = await askAgentDoor(app, '/agent/identity', body, headers)
  assert.equal(status, 200, JSON.stringify(registered))
  const { registration_id, claim_token, identity_assertion = '' } = registered
  const exchange = (assertion = identity_assertion) => exchangeAssertion(app, assertion)
  const agent: TestAgent = {
    registrationId: registration_id,
    claimToken: claim_token,
    assertion: identity_assertion,
    token: identity_assertion ? (await exchange()).body.access_token : '',
    registered,
    exchange,
    poll: () => pollClaim(app, claim_token),
    startClaim: (email) => startClaim(app, claim_token, email),
    async beClaimed({ email, token }) {
      const { ceremony, attemptToken } = await agent.startClaim(email)
      const input = { claimAttemptToken: attemptToken, userCode: ceremony.user_code }
      const { status, body } = await app.call('agents/claimComplete', input, { token })
      assert.equal(status, 200, JSON.stringify(body))
      const { body: poll } = await agent.poll()
      assert.ok(poll.access_token, JSON.stringify(poll))
      return { poll, attemptToken }
    },
  }
  return agent
}

/** A code that is not this one. */
export const wrongCode = (right: string): string => String((Number(right) + 1) % 1_000_000).padStart(6, '0')

/** What a caller without an account sends to be known again. */
export function anonymousCookieIn({ headers }: Answer): string {
  const cookie = headers.getSetCookie().find((line) => line.startsWith('trellis.anonymous='))
  assert.ok(cookie, 'no cookie was set')
  return cookie.split(';')[0] ?? ''
}

/** What a browser sends for somebody who has signed in. */
export async function sessionCookieOf({ url }: { url: string }, email: string): Promise<string> {
  const response = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'correct horse battery' }),
  })
  assert.equal(response.status, 200)
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}

/** Asserts that an endpoint for agents refused, in the words of its protocol. */
export async function assertRefused(answer: Promise<Answer>, status: number, error: string): Promise<void> {
  const { status: got, body, headers } = await answer
  assert.deepEqual([got, body.error], [status, error], JSON.stringify(body))
  const { error: _, ...rest } = body
  assert.equal(Object.keys(rest).length, 1, 'one message and nothing else')
  assert.equal(headers.get('cache-control'), 'no-store')
}
