import type { AskAuth } from '../auth/asking.ts'
import type { PasswordLimit } from '../entry/password-limit.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Forms } from './forms.ts'
import { html } from './html.ts'
import { sendPage } from './layout.ts'

interface ConfirmAddressDeps {
  ask: AskAuth
  forms: Forms
  passwordLimit: PasswordLimit
}

export const CONFIRM_ADDRESS_PREFIX = '/confirm-address/'

/**
 * Where the link leads that is sent to a new address. Programs that read mail open links too, so that opening it
 * confirms nothing: a person has to say that it was them.
 */
export function createConfirmAddressPage({ ask, forms, passwordLimit }: ConfirmAddressDeps) {
  const tokenOf = ({ path }: Exchange) => path.slice(CONFIRM_ADDRESS_PREFIX.length)

  return {
    async get(exchange: Exchange): Promise<void> {
      const { field, headers } = forms.protect(exchange)
      // The form has no action: it goes to where the page is, whose text then holds nothing of the link.
      sendPage(
        exchange,
        200,
        {
          title: 'Confirm your address',
          body: html`<p>Somebody signed up here with this address. Confirm it only if that was you.</p>
<form method="post">${field}
<button>Confirm the address</button>
</form>`,
        },
        headers,
      )
    },

    async post(exchange: Exchange): Promise<void> {
      await forms.read(exchange)
      passwordLimit.take(exchange, '')
      const answer = await ask(exchange, `verify-email?token=${encodeURIComponent(tokenOf(exchange))}`)
      if (!answer.ok) return tellOver(exchange)
      sendPage(exchange, 200, {
        title: 'Your address is confirmed',
        body: html`<p>You can close this page, or <a href="/login">sign in</a>.</p>`,
      })
    },
  }
}

function tellOver(exchange: Exchange): void {
  sendPage(exchange, 404, {
    title: 'This link is over',
    body: html`<p>It is more than a day old, or a part of it is missing. Nothing was confirmed.</p>`,
  })
}
