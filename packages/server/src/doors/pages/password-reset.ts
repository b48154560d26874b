import type { Auth } from '../../people/auth.ts'
import type { PasswordLimit } from '../entry/password-limit.ts'
import type { Exchange } from '../http/exchange.ts'
import { notFound } from '../http/failure.ts'
import type { Forms } from './forms.ts'
import { html } from './html.ts'
import { newPasswordField, problemNote, sendPage } from './layout.ts'

interface PasswordResetDeps {
  auth: Auth
  forms: Forms
  passwordLimit: PasswordLimit
  /** Whether mail can be sent; without it there are no such pages. */
  enabled: boolean
}

export const RESET_PREFIX = '/reset-password/'
export const FORGOT_PATH = '/forgot-password'

/** Asking for a link to set a new password, and setting it. Nobody learns here which addresses have an account. */
export function createPasswordResetPages({ auth, forms, passwordLimit, enabled }: PasswordResetDeps) {
  const tokenOf = ({ path }: Exchange) => path.slice(RESET_PREFIX.length)

  function requireMail(): void {
    if (!enabled) throw notFound()
  }

  function showReset(exchange: Exchange, problem?: string): void {
    const { field, headers } = forms.protect(exchange)
    sendPage(
      exchange,
      problem ? 400 : 200,
      {
        title: 'Set a new password',
        body: html`${problemNote(problem)}
<p>Wherever you are signed in now, you will be signed out.</p>
<form method="post" action="${exchange.path}">${field}
${newPasswordField}
<button>Set the password</button>
</form>
<p>If the link is over, <a href="${FORGOT_PATH}">ask for another</a>.</p>`,
      },
      headers,
    )
  }

  return {
    async getForgot(exchange: Exchange): Promise<void> {
      requireMail()
      const { field, headers } = forms.protect(exchange)
      sendPage(
        exchange,
        200,
        {
          title: 'Forgot your password?',
          body: html`<form method="post" action="${FORGOT_PATH}">${field}
<label>Email <input type="email" name="email" autocomplete="username" required></label>
<button>Send me a link</button>
</form>`,
        },
        headers,
      )
    },

    async postForgot(exchange: Exchange): Promise<void> {
      requireMail()
      const fields = await forms.read(exchange)
      const email = fields.get('email')?.trim() ?? ''
      passwordLimit.take(exchange, email)
      await auth.requestReset(email)
      sendPage(exchange, 200, {
        title: 'Look into your mail',
        body: html`<p>If there is an account with this address, a link to set a new password is on its way.</p>`,
      })
    },

    async getReset(exchange: Exchange): Promise<void> {
      requireMail()
      showReset(exchange)
    },

    async postReset(exchange: Exchange): Promise<void> {
      requireMail()
      const fields = await forms.read(exchange)
      passwordLimit.take(exchange, '')
      const answer = await auth.resetPassword({
        token: tokenOf(exchange),
        newPassword: fields.get('password') ?? '',
      })
      const { message } = (await answer.json().catch(() => ({}))) as { message?: string }
      if (!answer.ok) return showReset(exchange, message ?? 'That did not work')
      sendPage(exchange, 200, {
        title: 'Your password is set',
        body: html`<p><a href="/login?switch=1">Sign in</a> with it.</p>`,
      })
    },
  }
}
