import type { ErrorData } from '@trellis/contract'
import * as z from 'zod'
import { GrantRefused, type Grants } from '../../agents/grants.ts'
import { AgentRefusal, type RegistrationsService } from '../../agents/registrations.ts'
import type { SigningKeys } from '../../agents/signing-keys.ts'
import { Fault } from '../../platform/fault.ts'
import { limitedAddress } from '../entry/client-address.ts'
import type { RateLimit } from '../entry/rate-limit.ts'
import { type BodyLimit, readBytes, readJson } from '../http/body.ts'
import type { Route, Routes } from '../http/door.ts'
import { type Exchange, send, sendJson } from '../http/exchange.ts'
import { bearerChallenge } from '../http/failure.ts'

export interface AgentDoorDeps {
  registrations: RegistrationsService
  grants: Grants
  signingKeys: SigningKeys
  rateLimit: RateLimit
  baseUrl: string
  /** Whether agents may register by themselves. */
  enabled: boolean
}

const BODY: BodyLimit = { bytes: 64 * 1024, scope: 'git_workspace_memory' }
const CLAIM_GRANT = 'urn:workos:agent-auth:grant-type:claim'
const ASSERTION_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const REFRESH_GRANT = 'refresh_token'
export const GRANT_TYPES = [ASSERTION_GRANT, CLAIM_GRANT, REFRESH_GRANT]

const LoginHint = z.email().max(254)
const Identity = z.object({
  type: z.string(),
  login_hint: z.string().optional(),
  agent_name: z.string().nullish(),
})
const AGENT_NAME_LENGTH = 64
/** What cannot be seen, or turns the text around it. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u
const Claim = z.object({
  claim_token: z.string().min(1).max(256),
  login_hint: z.string().optional(),
  email: z.string().optional(),
})

/** The endpoints by which an agent registers, asks to be claimed, and gets its tokens. */
export function createAgentDoor(deps: AgentDoorDeps): Routes {
  const { registrations, grants, signingKeys, rateLimit, baseUrl, enabled } = deps

  async function register(exchange: Exchange): Promise<unknown> {
    const { type, login_hint, agent_name } = await body(exchange, Identity)
    const { address } = exchange
    const from = { address, limited: limitedAddress(address), name: requireName(agent_name) }
    switch (type) {
      case 'anonymous':
        if (!enabled) throw new AgentRefusal(403, 'anonymous_not_enabled', 'Agents cannot register here')
        return registrations.registerAnonymous(from)
      case 'service_auth':
        if (!enabled) throw new AgentRefusal(403, 'service_auth_not_enabled', 'Agents cannot register here')
        return registrations.registerServiceAuth(requireHint(login_hint), from)
      case 'identity_assertion':
        throw new AgentRefusal(400, 'issuer_not_enabled', 'No outside issuer is trusted here')
      default:
        throw new AgentRefusal(400, 'invalid_request', 'type must be anonymous or service_auth')
    }
  }

  async function claim(exchange: Exchange): Promise<unknown> {
    const { claim_token, login_hint, email } = await body(exchange, Claim)
    const hint = login_hint ?? email
    return registrations.startClaim(claim_token, hint === undefined ? undefined : requireHint(hint))
  }

  async function grant(exchange: Exchange): Promise<unknown> {
    const fields = await form(exchange)
    switch (fields.get('grant_type')) {
      case CLAIM_GRANT:
        return grants.pollClaim(required(fields, 'claim_token'))
      case ASSERTION_GRANT:
        return grants.exchange(required(fields, 'assertion'))
      case REFRESH_GRANT:
        return grants.refresh(required(fields, 'refresh_token'))
      case null:
        throw new GrantRefused('invalid_request', 'grant_type is missing')
      default:
        throw new GrantRefused('unsupported_grant_type', `Use one of ${GRANT_TYPES.join(', ')}`)
    }
  }

  /** Limits, then the work, then its outcome in the shapes of these protocols. */
  const answered = (work: (exchange: Exchange) => Promise<unknown>): Route => {
    return async (exchange) => {
      try {
        const address = limitedAddress(exchange.address)
        if (address) rateLimit.take(`address:${address}`)
        const answer = await work(exchange)
        if (answer === undefined) send(exchange, 200, 'text/plain; charset=utf-8', '', noStore)
        else sendJson(exchange, 200, answer, noStore)
      } catch (error) {
        answerRefusal(exchange, error, baseUrl)
      }
    }
  }

  return {
    'POST /agent/identity': answered(register),
    'POST /agent/identity/claim': answered(claim),
    'POST /oauth2/token': answered(grant),
    'POST /oauth2/revoke': answered(async (exchange) => {
      await grants.revokeToken(required(await form(exchange), 'token'))
    }),
    'GET /.well-known/jwks.json': async (exchange) =>
      sendJson(exchange, 200, await signingKeys.jwks(), { 'cache-control': 'public, max-age=300' }),
  }
}

const noStore = { 'cache-control': 'no-store', pragma: 'no-cache' }

function answerRefusal(exchange: Exchange, error: unknown, baseUrl: string): void {
  if (error instanceof AgentRefusal) {
    const challenge = error.status === 401 && { 'www-authenticate': bearerChallenge(baseUrl, error.message) }
    const { error: code, message } = error
    sendJson(exchange, error.status, { error: code, message }, { ...noStore, ...challenge })
  } else if (error instanceof GrantRefused)
    sendJson(exchange, 400, { error: error.error, error_description: error.message }, noStore)
  else if (error instanceof Fault && error.code === 'TOO_MANY_REQUESTS') {
    const { retryAfterMs = 0 } = error.data as ErrorData<'TOO_MANY_REQUESTS'>
    const headers = { ...noStore, 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
    sendJson(exchange, 429, { error: 'rate_limited', message: error.message }, headers)
  } else throw error
}

async function body<T>({ request }: Exchange, schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(await readJson(request, BODY).catch(refuseUnreadable))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new AgentRefusal(400, 'invalid_request', `${issue?.path.join('.')}: ${issue?.message}`)
}

function refuseUnreadable(error: unknown): never {
  if (!(error instanceof Fault) || error.code !== 'BAD_REQUEST') throw error
  throw new AgentRefusal(400, 'invalid_request', 'Send a JSON body with Content-Type: application/json')
}

async function form({ request }: Exchange): Promise<URLSearchParams> {
  const bytes = await readBytes(request, BODY)
  const type = request.headers['content-type'] ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new GrantRefused(
      'invalid_request',
      'Send a form, with the header Content-Type: application/x-www-form-urlencoded',
    )
  return new URLSearchParams(bytes.toString())
}

function required(fields: URLSearchParams, name: string): string {
  const value = fields.get(name)
  if (!value || value.includes('\0')) throw new GrantRefused('invalid_request', `${name} is missing`)
  return value
}

function requireName(given: string | null | undefined): string | null {
  const name = given?.trim()
  if (!name) return null
  if (name.length > AGENT_NAME_LENGTH || UNSEEN.test(name))
    throw new AgentRefusal(
      400,
      'invalid_request',
      `agent_name: up to ${AGENT_NAME_LENGTH} characters that can be seen`,
    )
  return name
}

function requireHint(hint: string | undefined): string {
  const parsed = LoginHint.safeParse(hint?.trim())
  if (!parsed.success)
    throw new AgentRefusal(400, 'invalid_login_hint', 'login_hint must be the email address of an account')
  return parsed.data
}
