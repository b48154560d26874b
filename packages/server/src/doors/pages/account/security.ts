import { refusalIn } from '../../auth/asking.ts'
import { attemptIn } from '../../entry/password-limit.ts'
import type { Exchange } from '../../http/exchange.ts'
import { type Html, html } from '../html.ts'
import { problemNote, redirect, sendPage } from '../layout.ts'
import { loginPath } from '../login.ts'
import { PASSKEY_SCRIPT } from '../passkey-script.ts'
import { problemOf } from '../provider-links.ts'
import { addressSection } from './address.ts'
import { begunIn, codeList, setUp, twoFactorSection } from './two-factor.ts'
import { type AccountPagesDeps, SECURITY_PATH, sessionOf, tabsAt } from './visitor.ts'
import { type Account, type Offered, passwordSection, providersSection } from './ways-in.ts'

interface SecurityPageDeps extends AccountPagesDeps {
  /** Whether passkeys work at the address of this server. */
  passkeys: boolean
  /** Whether somebody can be sent a link to another address. */
  canMail: boolean
  /** Who else vouches for people here. */
  providers: readonly Offered[]
}

const TITLE = 'Sign-in and security'
/** In the query, when somebody comes back from changing their password. */
const CHANGED = 'changed'
/** And when they have asked for another address. */
const SENT = 'sent'

/** Where somebody sets up how they sign in. All but making a passkey works without JavaScript. */
export function createSecurityPage(deps: SecurityPageDeps) {
  const { ask, authenticate, forms, passwordLimit, passkeys, providers, canMail } = deps

  const read = async <T>(exchange: Exchange, route: string) =>
    (await (await ask(exchange, route)).json()) as T

  async function show(exchange: Exchange, problem?: string): Promise<void> {
    const { user } = await read<{ user: { email: string; twoFactorEnabled?: boolean } }>(
      exchange,
      'get-session',
    )
    const accounts = await read<Account[]>(exchange, 'list-accounts')
    const kept = await read<{ id: string; name?: string }[]>(exchange, 'passkey/list-user-passkeys')
    const { field, headers } = forms.protect(exchange)
    const has = (word: string) => new URLSearchParams(exchange.query).has(word)
    const hasPassword = accounts.some(({ providerId }) => providerId === 'credential')
    sendPage(
      exchange,
      problem ? 400 : 200,
      {
        title: TITLE,
        tabs: tabsAt(SECURITY_PATH, deps),
        ...(passkeys && { script: PASSKEY_SCRIPT }),
        body: html`${problemNote(problem)}
${has(CHANGED) ? html`<p class="done" role="status">Your password is changed. Wherever else you were signed in, you are signed out.</p>` : ''}
${has(SENT) ? html`<p class="done" role="status">If that address can be yours, a link is on its way to it. Open it here, signed in.</p>` : ''}
<h2>Address</h2>
${addressSection(field, { email: user.email, hasPassword, canMail })}
<h2>Password</h2>
${passwordSection(field, hasPassword)}
<h2>Two-factor sign-in</h2>
${twoFactorSection(field, { isOn: user.twoFactorEnabled === true, hasPassword })}
<h2>Passkeys</h2>
<p>A passkey signs you in with your device, without a password or a code.</p>
${kept.length > 0 ? html`<ul class="rows">${kept.map((each) => passkeyRow(field, each))}</ul>` : ''}
${passkeys ? addPasskey() : html`<p>Browsers make none for this server: its own address (TRELLIS_BASE_URL) has no name, or is not https. On your own machine http://localhost with its port will do.</p>`}
${providersSection(field, providers, accounts)}`,
      },
      headers,
    )
  }

  function step(exchange: Exchange, title: string, body: (field: Html) => Html, problem?: string): void {
    const { field, headers } = forms.protect(exchange)
    sendPage(
      exchange,
      problem ? 400 : 200,
      { title, tabs: tabsAt(SECURITY_PATH, deps), body: html`${problemNote(problem)}${body(field)}` },
      headers,
    )
  }

  const done = (exchange: Exchange, answer: Response, query = '') =>
    redirect(exchange, SECURITY_PATH + query, { 'set-cookie': answer.headers.getSetCookie() })

  const actions: Record<string, (exchange: Exchange, fields: URLSearchParams) => Promise<unknown>> = {
    async 'change-password'(exchange, fields) {
      const answer = await ask(exchange, 'change-password', {
        currentPassword: fields.get('password') ?? '',
        newPassword: fields.get('new-password') ?? '',
        revokeOtherSessions: true,
      })
      if (answer.ok) return done(exchange, answer, `?${CHANGED}`)
      return show(exchange, (await refusalIn(answer)).message)
    },
    async 'change-address'(exchange, fields) {
      const answer = await ask(exchange, 'change-address', {
        newEmail: fields.get('email') ?? '',
        ...passwordIn(fields),
      })
      if (answer.ok) return done(exchange, answer, `?${SENT}`)
      return show(exchange, (await refusalIn(answer)).message)
    },
    async unlink(exchange, fields) {
      const answer = await ask(exchange, 'unlink-account', { accountId: fields.get('id') ?? '' })
      return answer.ok ? done(exchange, answer) : show(exchange, (await refusalIn(answer)).message)
    },
    async begin(exchange, fields) {
      const answer = await ask(exchange, 'two-factor/enable', passwordIn(fields))
      if (!answer.ok) return show(exchange, (await refusalIn(answer)).message)
      const begun = (await answer.json()) as Parameters<typeof setUp>[1]
      step(exchange, 'Set up two-factor sign-in', (field) => setUp(field, begun))
    },
    async confirm(exchange, fields) {
      const code = (fields.get('code') ?? '').replaceAll(/\s/g, '')
      const answer = await ask(exchange, 'two-factor/verify-totp', { code })
      if (answer.ok) return done(exchange, answer)
      const { message } = await refusalIn(answer)
      const begun = begunIn(fields)
      if (!begun) return show(exchange, message)
      step(exchange, 'Set up two-factor sign-in', (field) => setUp(field, begun), message)
    },
    async codes(exchange, fields) {
      const answer = await ask(exchange, 'two-factor/generate-backup-codes', passwordIn(fields))
      if (!answer.ok) return show(exchange, (await refusalIn(answer)).message)
      const { backupCodes } = (await answer.json()) as { backupCodes: string[] }
      step(
        exchange,
        'Your new backup codes',
        () => html`<p>Each works once. Those you had before do not work any more.</p>${codeList(backupCodes)}
<p><a href="${SECURITY_PATH}">${TITLE}</a></p>`,
      )
    },
    async off(exchange, fields) {
      const answer = await ask(exchange, 'two-factor/disable', passwordIn(fields))
      return answer.ok ? done(exchange, answer) : show(exchange, (await refusalIn(answer)).message)
    },
    async 'remove-passkey'(exchange, fields) {
      const answer = await ask(exchange, 'passkey/delete-passkey', { id: fields.get('id') ?? '' })
      return answer.ok ? done(exchange, answer) : show(exchange, (await refusalIn(answer)).message)
    },
  }

  return {
    async get(exchange: Exchange): Promise<void> {
      if (!(await sessionOf(exchange, authenticate))) return
      await show(exchange, problemOf(new URLSearchParams(exchange.query).get('error')))
    },

    async post(exchange: Exchange): Promise<void> {
      const fields = await forms.read(exchange)
      if (!(await sessionOf(exchange, authenticate))) return
      passwordLimit.take(exchange, attemptIn(exchange.request.headers))
      const act = actions[fields.get('action') ?? '']
      await (act ? act(exchange, fields) : show(exchange))
    },
  }
}

const passwordIn = (fields: URLSearchParams) =>
  fields.has('password') ? { password: fields.get('password') } : {}

const passkeyRow = (field: Html, { id, name = 'Passkey' }: { id: string; name?: string }): Html =>
  html`<li><strong>${name}</strong><form method="post" action="${SECURITY_PATH}">${field}
<input type="hidden" name="action" value="remove-passkey"><input type="hidden" name="id" value="${id}">
<button class="second" aria-label="Remove: ${name}">Remove</button></form></li>`

const addPasskey = (): Html => html`<div class="form" data-passkey="add" hidden>
<p class="problem" role="alert" hidden></p>
<label>What to call it <input maxlength="100" placeholder="The name of your device"></label>
<button type="button">Add a passkey</button>
</div>
<p><small>A day after signing in you have to <a href="${loginPath(SECURITY_PATH, { switching: true })}">sign in
again</a> before you can add one.</small></p>`
