import assert from 'node:assert/strict'
import { cookiesIn, type Teller } from './teller.ts'

const CLAIM_GRANT = 'urn:workos:agent-auth:grant-type:claim'
const ASSERTION_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** Access without an account: agents and invites, in every state. */
export async function tellOfStrangers(teller: Teller): Promise<void> {
  await registerAgents(teller)
  await makeInvites(teller)
}

async function registerAgents(teller: Teller): Promise<void> {
  const { call, ok, told } = teller
  const free = await register(teller)
  told.credentials['unclaimed agent'] = free.token
  await ok('repos/create', { name: 'of-an-agent' }, { token: free.token })

  // Somebody has typed a wrong code so far.
  const showing = await register(teller)
  told.credentials['agent that shows a code'] = showing.token
  const shown = await startClaim(teller, showing.claimToken, 'cyn')
  const wrong = shown.userCode === '000000' ? '000001' : '000000'
  const typed = await call(
    'agents/claimComplete',
    { claimAttemptToken: shown.attemptToken, userCode: wrong },
    { token: told.credentials.cyn },
  )
  assert.notEqual(typed.status, 200)
  told.claim = { claimToken: showing.claimToken, ...shown }

  for (const name of ['claimed agent', 'revoked agent']) {
    const agent = await register(teller)
    const { attemptToken, userCode } = await startClaim(teller, agent.claimToken, 'ann')
    const asAnn = { token: told.credentials.ann }
    await ok('agents/claimComplete', { claimAttemptToken: attemptToken, userCode }, asAnn)
    told.credentials[name] = await grant(teller, { grant_type: CLAIM_GRANT, claim_token: agent.claimToken })
    if (name === 'revoked agent') await ok('agents/revoke', { registrationId: agent.registrationId }, asAnn)
  }
  await post200(teller, '/agent/identity', { type: 'service_auth', login_hint: 'ben@example.com' })
}

async function register(teller: Teller) {
  const made = await post200(teller, '/agent/identity', { type: 'anonymous' })
  return {
    registrationId: made.registration_id,
    claimToken: made.claim_token,
    token: await grant(teller, { grant_type: ASSERTION_GRANT, assertion: made.identity_assertion }),
  }
}

async function startClaim(teller: Teller, claimToken: string, name: string) {
  const { claim_attempt } = await post200(teller, '/agent/identity/claim', {
    claim_token: claimToken,
    login_hint: `${name}@example.com`,
  })
  const page = new URL(claim_attempt.verification_uri)
  const returnTo = new URL(page.searchParams.get('return_to') ?? '', page)
  return {
    attemptToken: returnTo.searchParams.get('claim_attempt_token') ?? '',
    userCode: claim_attempt.user_code as string,
  }
}

const grant = async (teller: Teller, fields: Record<string, string>): Promise<string> =>
  (await post200(teller, '/oauth2/token', new URLSearchParams(fields))).access_token

async function post200({ post }: Teller, path: string, body: object) {
  const { status, body: answer } = await post(path, body)
  assert.equal(status, 200, `${path}: ${JSON.stringify(answer)}`)
  return answer
}

async function makeInvites({ ok, post, acme, told }: Teller): Promise<void> {
  const invite = async (name: string, more: object = {}) => {
    const made = await ok('invites/create', { name: 'hello', scope: 'write', ...more }, acme())
    told.invites[name] = made.id
    return made
  }
  await invite('open', { maxReveals: 2 })
  await invite('used up', { maxReveals: 1 })
  const { managementId } = await invite('revoked')
  await ok('invites/revoke', { managementId })
  for (const name of ['open', 'used up']) await ok('invites/reveal', { id: told.invites[name] })

  const anonymous = await post('/api/v1/invites/createAnonymous', { name: 'found', scope: 'write' })
  assert.equal(anonymous.status, 200, JSON.stringify(anonymous.body))
  told.invites.anonymous = anonymous.body.id
  told.cookies['somebody without an account'] = cookiesIn(anonymous)
}
