import type { Entry, EntryLinks } from '../../people/entry-links.ts'
import type { AskAuth } from '../auth/asking.ts'
import type { PasswordLimit } from '../entry/password-limit.ts'
import type { Exchange } from '../http/exchange.ts'
import { type Forms, problemIn } from './forms.ts'
import { html } from './html.ts'
import { newPasswordField, problemNote, redirect, sendPage } from './layout.ts'

export interface EnterPageDeps {
  entryLinks: EntryLinks
  ask: AskAuth
  forms: Forms
  passwordLimit: PasswordLimit
}

export const ENTER_PREFIX = '/enter/'

/** Where a link leads that lets somebody in once: they set their password, the owner also their address. */
export function createEnterPage({ entryLinks, ask, forms, passwordLimit }: EnterPageDeps) {
  const secretOf = ({ path }: Exchange) => path.slice(ENTER_PREFIX.length)

  function show(exchange: Exchange, { email, mayChangeAddress }: Entry, problem?: string): void {
    const { field, headers } = forms.protect(exchange)
    const address = mayChangeAddress
      ? html`<label>Email <input type="email" name="email" autocomplete="username" value="${email}" maxlength="254" required></label>`
      : html`<label>Email <input type="email" autocomplete="username" value="${email}" readonly></label>`
    sendPage(
      exchange,
      problem ? 400 : 200,
      {
        title: mayChangeAddress ? 'Welcome to your Trellis' : 'Set your password',
        body: html`${problemNote(problem)}
<p>This link works once. ${mayChangeAddress ? 'You own this server: choose the address and password to sign in with.' : 'Choose the password to sign in with.'}
Wherever you are signed in now, you will be signed out; passkeys and two-factor sign-in, if you had them, will be gone.</p>
<form method="post" action="${exchange.path}">${field}
${address}${newPasswordField}
<button>Set and sign in</button>
</form>`,
      },
      headers,
    )
  }

  return {
    async get(exchange: Exchange): Promise<void> {
      const entry = await entryLinks.look(secretOf(exchange))
      if (entry) show(exchange, entry)
      else tellOver(exchange)
    },

    async post(exchange: Exchange): Promise<void> {
      const fields = await forms.read(exchange)
      const secret = secretOf(exchange)
      const entry = await entryLinks.look(secret)
      if (!entry) return tellOver(exchange)
      passwordLimit.take(exchange, entry.email)
      const password = fields.get('password') ?? ''
      const given = { email: fields.get('email') ?? entry.email, password }
      const used = await problemIn(() => entryLinks.use(secret, given))
      if (used.problem !== undefined) return show(exchange, { ...entry, email: given.email }, used.problem)
      if (!used.result) return tellOver(exchange)
      const answer = await ask(exchange, 'sign-in/email', { email: used.result, password })
      if (answer.ok) return redirect(exchange, '/', { 'set-cookie': answer.headers.getSetCookie() })
      sendPage(exchange, 200, {
        title: 'Your password is set',
        body: html`<p>From now on, <a href="/login?switch=1">sign in</a> with ${used.result} and your password.</p>`,
      })
    },
  }
}

function tellOver(exchange: Exchange): void {
  sendPage(exchange, 404, {
    title: 'This link is over',
    body: html`<p>It was used, or it is more than a day old. Whoever runs this server can make a new one.</p>`,
  })
}
