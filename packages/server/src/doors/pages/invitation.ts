import type { Caller } from '../../access/caller.ts'
import type { InvitationsService } from '../../orgs/invitations.ts'
import type { PeopleService } from '../../people/service.ts'
import { isoTime } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { Fault } from '../../platform/fault.ts'
import type { AskAuth } from '../auth/asking.ts'
import type { Authenticate } from '../entry/authenticate.ts'
import type { PasswordLimit } from '../entry/password-limit.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Forms } from './forms.ts'
import { type Html, html } from './html.ts'
import { newPasswordField, problemNote, readable, redirect, sendPage } from './layout.ts'
import { loginPath } from './login.ts'

export interface InvitationPageDeps {
  invitations: InvitationsService
  people: PeopleService
  ask: AskAuth
  authenticate: Authenticate
  forms: Forms
  passwordLimit: PasswordLimit
  signUp: Config['signUp']
  /** Where an organization is shown to those who are in it. */
  homeOf(org: string): string
}

export const INVITATION_PREFIX = '/invitations/'

type Invitation = NonNullable<Awaited<ReturnType<InvitationsService['look']>>>

/** Where the link of an invitation leads: who is signed in with its address joins, who has no account yet gets one. */
export function createInvitationPage(deps: InvitationPageDeps) {
  const { invitations, people, ask, authenticate, forms, passwordLimit, signUp, homeOf } = deps
  const secretOf = ({ path }: Exchange) => path.slice(INVITATION_PREFIX.length)

  /** Somebody signed in, with their address. */
  async function findGuest(exchange: Exchange): Promise<{ caller: Caller; email: string } | undefined> {
    const caller = await authenticate(exchange.request)
    if (caller?.credential.kind !== 'session') return undefined
    return { caller, email: (await people.get(caller.actor.id)).email.toLowerCase() }
  }

  async function show(exchange: Exchange, invitation: Invitation, problem?: string): Promise<void> {
    const { field, headers } = forms.protect(exchange)
    const guest = await findGuest(exchange)
    const { orgName, email, role, inviter, expiresAt } = invitation
    sendPage(
      exchange,
      problem ? 400 : 200,
      {
        title: `Join ${orgName}`,
        body: html`${problemNote(problem)}
<dl>
<dt>Organization</dt><dd>${orgName}</dd>
<dt>Your role</dt><dd>${role}</dd>
<dt>Invited by</dt><dd>${inviter ?? 'somebody who has left'}</dd>
<dt>For</dt><dd>${email}, until ${readable(isoTime(expiresAt))}</dd>
</dl>
${waysIn(exchange.path, invitation, guest?.email, field)}`,
      },
      headers,
    )
  }

  function waysIn(
    path: string,
    { email, hasAccount }: Invitation,
    signedInAs: string | undefined,
    field: Html,
  ) {
    if (signedInAs === email)
      return html`<form method="post" action="${path}">${field}
<input type="hidden" name="action" value="join">
<button>Join</button>
</form>`
    const other = signedInAs
      ? html`<p class="warning">You are signed in as ${signedInAs}, and this invitation is for ${email}.</p>`
      : ''
    const signIn = html`<p><a href="${loginPath(path, { switching: true })}">Sign in as ${email}</a></p>`
    if (hasAccount) return html`${other}${signIn}`
    if (signUp === 'closed')
      return html`${other}<p>Nobody can sign up on this server: ask whoever runs it for an account with this address.</p>`
    return html`${other}<form method="post" action="${path}">${field}
<input type="hidden" name="action" value="sign-up">
<label>Name <input name="name" autocomplete="name" maxlength="100" required></label>
<label>Email <input type="email" autocomplete="username" value="${email}" readonly></label>
${newPasswordField}
<button>Create an account and join</button>
</form>`
  }

  async function join(exchange: Exchange, secret: string, invitation: Invitation): Promise<void> {
    const guest = await findGuest(exchange)
    if (guest?.email !== invitation.email)
      return show(exchange, invitation, `Sign in as ${invitation.email} first`)
    const { caller } = guest
    const { actor, credential } = caller
    await invitations.acceptLink({ userId: actor.id, author: { actor, credentialId: credential.id } }, secret)
    redirect(exchange, homeOf(invitation.orgSlug))
  }

  async function signUpAndJoin(
    exchange: Exchange,
    secret: string,
    invitation: Invitation,
    fields: URLSearchParams,
  ): Promise<void> {
    const { email } = invitation
    passwordLimit.take(exchange, email)
    const person = {
      email,
      name: fields.get('name')?.trim() || email,
      password: fields.get('password') ?? '',
    }
    const answer = await ask(exchange, 'sign-up/email', person, secret)
    const { message, user } = (await answer.json().catch(() => ({}))) as {
      message?: string
      user?: { id: string }
    }
    if (!answer.ok || !user) return show(exchange, invitation, message ?? 'That did not work')
    const author = { actor: { kind: 'user' as const, id: user.id }, credentialId: null }
    await invitations.acceptLink({ userId: user.id, author }, secret)
    redirect(exchange, homeOf(invitation.orgSlug), { 'set-cookie': answer.headers.getSetCookie() })
  }

  /** To whoever accepted it that is no surprise. */
  async function tellEnd(exchange: Exchange): Promise<void> {
    const guest = await findGuest(exchange)
    const joined = guest && (await invitations.findJoined(guest.caller.actor.id, secretOf(exchange)))
    if (joined) tellJoined(exchange, { ...joined, home: homeOf(joined.orgSlug) })
    else tellOver(exchange, { isSignedIn: guest !== undefined })
  }

  return {
    async get(exchange: Exchange): Promise<void> {
      const invitation = await invitations.look(secretOf(exchange))
      await (invitation ? show(exchange, invitation) : tellEnd(exchange))
    },

    async post(exchange: Exchange): Promise<void> {
      const fields = await forms.read(exchange)
      const secret = secretOf(exchange)
      const invitation = await invitations.look(secret)
      if (!invitation) return tellEnd(exchange)
      try {
        if (fields.get('action') === 'join') await join(exchange, secret, invitation)
        else await signUpAndJoin(exchange, secret, invitation, fields)
      } catch (error) {
        // Somebody withdrew it, or used it up, in this moment.
        if (!(error instanceof Fault) || error.code !== 'INVITATION_NOT_FOUND') throw error
        await tellEnd(exchange)
      }
    },
  }
}

function tellJoined(
  exchange: Exchange,
  { orgName, role, home }: Pick<Invitation, 'orgName' | 'role'> & { home: string },
): void {
  sendPage(exchange, 200, {
    title: `You are in ${orgName}`,
    body: html`<p>You are a member with the role ${role}. <a href="${home}">Go to ${orgName}</a></p>`,
  })
}

function tellOver(exchange: Exchange, { isSignedIn }: { isSignedIn: boolean }): void {
  sendPage(exchange, 404, {
    title: 'This invitation is over',
    body: html`<p>It was accepted, withdrawn or replaced, or it is more than a week old. Ask whoever invited you for a
new one.</p>
${isSignedIn ? '' : html`<p>If it was you who accepted it, <a href="${loginPath(exchange.path)}">sign in</a>.</p>`}`,
  })
}
