import type { Auth } from '../../people/auth.ts'
import type { Config } from '../../platform/config.ts'
import { type AskAuth, refusalIn } from '../auth/asking.ts'
import type { Authenticate } from '../entry/authenticate.ts'
import type { PasswordLimit } from '../entry/password-limit.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Forms } from './forms.ts'
import { type Html, html } from './html.ts'
import { newPasswordField, problemNote, redirect, sendPage } from './layout.ts'
import { PASSKEY_SCRIPT } from './passkey-script.ts'
import { problemOf, providerPath } from './provider-links.ts'

interface LoginDeps {
  auth: Auth
  ask: AskAuth
  authenticate: Authenticate
  forms: Forms
  passwordLimit: PasswordLimit
  signUp: Config['signUp']
  /** Whether somebody can be sent a link to set a new password. */
  canMail: boolean
  /** Whether passkeys work at the address of this server. */
  passkeys: boolean
  /** Where somebody can begin who wants no account; undefined where nobody can. */
  withoutAccountPath: string | undefined
}

/** Asks for the form even from somebody signed in, who wants to be somebody else. */
const SWITCH = 'switch'

export const loginPath = (returnTo: string, { switching = false } = {}): string =>
  `/login?${switching ? `${SWITCH}=1&` : ''}return_to=${encodeURIComponent(returnTo)}`

/** What somebody typed who is to try again; passwords are typed anew. */
interface Typed {
  action: string
  name: string
  email: string
}

/** Signing in, and up, without JavaScript; then on to where the person was going. */
export function createLoginPage(deps: LoginDeps) {
  const { auth, ask, authenticate, forms, passwordLimit, signUp, canMail, passkeys } = deps
  const { withoutAccountPath } = deps
  function show(exchange: Exchange, returnTo: string, problem?: string, typed?: Typed): void {
    const { field, headers } = forms.protect(exchange)
    const hidden = html`${field}<input type="hidden" name="return_to" value="${returnTo}">`
    const typedIn = (action: string) => (typed?.action === action ? typed : undefined)
    const email = (action: string) =>
      html`<label>Email <input type="email" name="email" value="${typedIn(action)?.email ?? ''}" autocomplete="username" required></label>`
    const password = html`<label>Password <input type="password" name="password" autocomplete="current-password" minlength="10" required></label>`
    sendPage(
      exchange,
      problem ? 400 : 200,
      {
        title: 'Sign in',
        ...(passkeys && { script: PASSKEY_SCRIPT }),
        body: html`${problemNote(problem)}
<form method="post" action="/login">${hidden}
<input type="hidden" name="action" value="sign-in">
${email('sign-in')}${password}
<button>Sign in</button>
</form>
<p>${canMail ? html`<a href="/forgot-password">Forgot your password?</a>` : html`Forgot your password? Ask whoever runs this server for a link: <code>npm run admin -- users link</code> prints one.`}</p>
${passkeys ? withPasskey(returnTo) : ''}
${auth.providers.map(({ id, name }) => html`<a class="button" rel="nofollow" href="${providerPath(id, returnTo)}">Sign in with ${name}</a>`)}
${
  signUp === 'open'
    ? html`<h2>No account yet?</h2>
<form method="post" action="/login">${hidden}
<input type="hidden" name="action" value="sign-up">
<label>Name <input name="name" value="${typedIn('sign-up')?.name ?? ''}" autocomplete="name" required></label>
${email('sign-up')}${newPasswordField}
<button>Create an account</button>
</form>`
    : ''
}
${withoutAccountPath ? html`<p><a href="${withoutAccountPath}">Try it without an account</a></p>` : ''}`,
      },
      headers,
    )
  }

  return {
    async get(exchange: Exchange): Promise<void> {
      const query = new URLSearchParams(exchange.query)
      const returnTo = localPath(query.get('return_to'))
      const problem = problemOf(query.get('error'))
      const isToStay = !problem && !query.has(SWITCH) && (await authenticate(exchange.request))
      if (isToStay) return redirect(exchange, returnTo)
      show(exchange, returnTo, problem)
    },

    async post(exchange: Exchange): Promise<void> {
      const fields = await forms.read(exchange)
      const returnTo = localPath(fields.get('return_to'))
      const given = (field: string) => fields.get(field) ?? ''
      const typed = { name: given('name'), email: given('email'), action: given('action') || 'sign-in' }
      passwordLimit.take(exchange, typed.email)
      const body = { email: typed.email, password: given('password') }
      const answer =
        typed.action === 'sign-up'
          ? await ask(exchange, 'sign-up/email', { ...body, name: typed.name })
          : await ask(exchange, 'sign-in/email', body)
      if (!answer.ok) return show(exchange, returnTo, (await refusalIn(answer)).message, typed)
      const { twoFactorRedirect = false } = (await answer.json()) as { twoFactorRedirect?: boolean }
      redirect(
        exchange,
        twoFactorRedirect ? `${auth.codePath}?return_to=${encodeURIComponent(returnTo)}` : returnTo,
        {
          'set-cookie': answer.headers.getSetCookie(),
        },
      )
    },
  }
}

const withPasskey = (
  returnTo: string,
): Html => html`<div data-passkey="sign-in" data-return-to="${returnTo}" hidden>
<p class="problem" role="alert" hidden></p>
<button type="button" class="second">Sign in with a passkey</button>
</div>`

/** Only ever back to a page of our own: a path, and nothing a browser could take for another host. */
export function localPath(path: string | null): string {
  return path && /^\/(?!\/)[!-[\]-~]*$/.test(path) ? path : '/'
}
