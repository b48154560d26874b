import { type AskAuth, refusalIn } from '../auth/asking.ts'
import { attemptIn, type PasswordLimit } from '../entry/password-limit.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Forms } from './forms.ts'
import { html } from './html.ts'
import { problemNote, redirect, sendPage } from './layout.ts'
import { localPath, loginPath } from './login.ts'

interface CodePageDeps {
  path: string
  ask: AskAuth
  forms: Forms
  passwordLimit: PasswordLimit
}

/** What is over cannot be tried again. */
const OVER = ['INVALID_TWO_FACTOR_COOKIE', 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE']

/** Asks whoever has given the right password, or comes from a provider, for their second factor. */
export function createCodePage({ path, ask, forms, passwordLimit }: CodePageDeps) {
  function show(exchange: Exchange, returnTo: string, problem?: string): void {
    const { field, headers } = forms.protect(exchange)
    sendPage(
      exchange,
      problem ? 400 : 200,
      {
        title: 'Your second factor',
        body: html`${problemNote(problem)}
<form method="post" action="${path}">${field}<input type="hidden" name="return_to" value="${returnTo}">
<label>The code your authenticator app shows, or one of your backup codes
<input class="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="20" required autofocus></label>
<label class="choice"><input type="checkbox" name="trust" value="1"> Do not ask in this browser for 30 days</label>
<button>Go on</button>
</form>
<p><a href="${loginPath(returnTo)}">Sign in in another way</a></p>`,
      },
      headers,
    )
  }

  return {
    async get(exchange: Exchange): Promise<void> {
      show(exchange, localPath(new URLSearchParams(exchange.query).get('return_to')))
    },

    async post(exchange: Exchange): Promise<void> {
      const fields = await forms.read(exchange)
      const returnTo = localPath(fields.get('return_to'))
      passwordLimit.take(exchange, attemptIn(exchange.request.headers))
      const code = (fields.get('code') ?? '').replaceAll(/\s/g, '')
      const route = /^\d{6}$/.test(code) ? 'verify-totp' : 'verify-backup-code'
      const answer = await ask(exchange, `two-factor/${route}`, { code, trustDevice: fields.has('trust') })
      if (answer.ok) return redirect(exchange, returnTo, { 'set-cookie': answer.headers.getSetCookie() })
      const refusal = await refusalIn(answer)
      if (!OVER.includes(refusal.code)) return show(exchange, returnTo, refusal.message)
      sendPage(exchange, 401, {
        title: 'Sign in again',
        body: html`<p>Too much time has passed, or too many codes were tried.
<a href="${loginPath(returnTo)}">Sign in again</a>.</p>`,
      })
    },
  }
}
