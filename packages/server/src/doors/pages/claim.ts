import type { ErrorData } from '@trellis/contract'
import type { Caller } from '../../access/caller.ts'
import { POST_CLAIM_SCOPES } from '../../access/powers.ts'
import type { AgentsService } from '../../agents/service.ts'
import { isoTime } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Authenticate } from '../entry/authenticate.ts'
import { limitedAddress } from '../entry/client-address.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Forms } from './forms.ts'
import { type Html, html } from './html.ts'
import { readable, redirect, sendPage } from './layout.ts'
import { loginPath } from './login.ts'

export interface ClaimPageDeps {
  agents: AgentsService
  authenticate: Authenticate
  forms: Forms
}

const TOKEN = 'claim_attempt_token'
const claimPath = (token: string) => `/claim?${TOKEN}=${encodeURIComponent(token)}`

/** Where a person sees which agent asks for what, and types the code it shows. */
export function createClaimPage({ agents, authenticate, forms }: ClaimPageDeps) {
  async function signedIn(exchange: Exchange, token: string): Promise<Caller | undefined> {
    const caller = await authenticate(exchange.request)
    if (caller?.credential.kind === 'session') return caller
    redirect(exchange, loginPath(claimPath(token)))
    return undefined
  }

  async function show(exchange: Exchange, caller: Caller, token: string, problem?: string): Promise<void> {
    const view = await agents.claimView(caller, token)
    if (view.status === 'claimed')
      return tell(exchange, 410, 'Already claimed', 'You have claimed this agent. It can go on.')
    if (view.userCodeExpiresAt === null)
      return tell(exchange, 410, 'The code has expired', 'Ask the agent for a new link and code.')
    const { field, headers } = forms.protect(exchange)
    sendPage(
      exchange,
      problem ? 422 : 200,
      {
        title: 'An agent asks you to claim it',
        body: html`${problem ? html`<p class="problem" role="alert">${problem}</p>` : ''}
<dl>
<dt>Agent</dt><dd>${view.registrationId}</dd>
${
  view.agentName === null
    ? ''
    : html`<dt>It calls itself</dt><dd>“${view.agentName}”. These are its own words: nobody has checked them.</dd>
`
}<dt>Registered</dt><dd>${readable(isoTime(view.createdAt))} from ${view.address}, ${view.kind === 'anonymous' ? 'without naming anybody' : 'naming your account'}</dd>
<dt>It asks for the account</dt><dd>${view.claimEmail ?? ''}</dd>
<dt>What happens</dt><dd>The organization it works in becomes yours, with all it made there. In that organization, and
nowhere else, it may read, push to and administrate repositories, until you revoke it
(${POST_CLAIM_SCOPES.join(', ')}).</dd>
</dl>
<p class="warning"><strong>Only go on if you started this agent yourself, just now.</strong> If somebody else sent you
this link or told you a code, close this page: you would be answerable for what their agent does.</p>
<form method="post" action="/claim">${field}
<input type="hidden" name="${TOKEN}" value="${token}">
<label>The six-digit code your agent shows you
<input class="code" name="user_code" inputmode="numeric" pattern="[0-9]{6}" maxlength="6" autocomplete="off" required></label>
<button>Claim this agent</button>
</form>`,
      },
      headers,
    )
  }

  return {
    async get(exchange: Exchange): Promise<void> {
      const token = new URLSearchParams(exchange.query).get(TOKEN) ?? ''
      await inWords(exchange, token, async () => {
        const caller = await signedIn(exchange, token)
        if (caller) await show(exchange, caller, token)
      })
    },

    async post(exchange: Exchange): Promise<void> {
      const fields = await forms.read(exchange)
      const token = fields.get(TOKEN) ?? ''
      const userCode = (fields.get('user_code') ?? '').trim()
      await inWords(exchange, token, async () => {
        const caller = await signedIn(exchange, token)
        if (!caller) return
        try {
          if (!/^\d{6}$/.test(userCode)) throw new Fault('AGENT_CLAIM_CODE_INVALID', {})
          await agents.claimComplete(
            caller,
            { claimAttemptToken: token, userCode },
            limitedAddress(exchange.address),
          )
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== 'AGENT_CLAIM_CODE_INVALID') throw error
          return show(exchange, caller, token, 'The code does not match. Look at it again.')
        }
        tell(
          exchange,
          200,
          'Claimed',
          html`The agent is yours and can go on. You may close this page, or look at <a href="/account/agents">Your agents</a>.`,
        )
      })
    },
  }
}

/** Errors of the operations as a person reads them. */
async function inWords(exchange: Exchange, token: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    tell(exchange, error.status, headingOf(error), adviceOn(error, token))
  }
}

/** Why a registration cannot be claimed, and what to do about it. */
const unavailable = {
  previously_claimed: ['Already claimed', 'This agent has been claimed already.'],
  claim_expired: ['Too late', 'This registration has ended. Ask the agent to register again.'],
  user_code_expired: ['The code has expired', 'Ask the agent for a new link and code.'],
} as const

const reasonIn = ({ data }: Fault) => (data as ErrorData<'AGENT_CLAIM_UNAVAILABLE'>).reason

const headingOf = (fault: Fault): string =>
  fault.code === 'AGENT_CLAIM_UNAVAILABLE' ? unavailable[reasonIn(fault)][0] : fault.message

function adviceOn(fault: Fault, token: string): string | Html {
  const { code, data } = fault
  switch (code) {
    case 'AGENT_CLAIM_UNAVAILABLE':
      return unavailable[reasonIn(fault)][1]
    case 'AGENT_CLAIM_WRONG_ACCOUNT': {
      const { claimEmail } = data as ErrorData<'AGENT_CLAIM_WRONG_ACCOUNT'>
      const path = loginPath(claimPath(token), { switching: true })
      return html`It asked for ${claimEmail}. If that is you, <a href="${path}">sign in with that account</a>.`
    }
    case 'TOO_MANY_REQUESTS':
      return 'Too many codes were tried. Wait an hour, then ask the agent for a new link.'
    default:
      return 'Ask the agent for a new link.'
  }
}

function tell(exchange: Exchange, status: number, title: string, text: string | Html): void {
  sendPage(exchange, status, { title, body: html`<p>${text}</p>` })
}
