import type { Exchange } from '../../http/exchange.ts'
import { type Html, html } from '../html.ts'
import { sendPage } from '../layout.ts'
import { type AccountPagesDeps, SECURITY_PATH, sessionOf, tabsAt } from './visitor.ts'

export const ADDRESS_PREFIX = '/new-address/'

interface Shown {
  email: string
  hasPassword: boolean
  /** Whether a letter can be sent to another. */
  canMail: boolean
}

/** The address, and how to have another. */
export function addressSection(field: Html, { email, hasPassword, canMail }: Shown): Html {
  const now = html`<p>You sign in with <strong>${email}</strong>; invitations and agents name you by it.</p>`
  if (!canMail)
    return html`${now}<p>This server sends no mail, so that no other address could be confirmed.</p>`
  if (!hasPassword)
    return html`${now}<p>To change it, have a password first: sign out, and ask for a new one.</p>`
  return html`${now}<form method="post" action="${SECURITY_PATH}">${field}<input type="hidden" name="action" value="change-address">
<label>New address <input type="email" name="email" autocomplete="email" maxlength="254" required></label>
<label>Password <input type="password" name="password" autocomplete="current-password" required></label>
<button>Send me a link there</button></form>`
}

/** Where the link leads that was sent to the new address. Only who is signed in can say that it is theirs. */
export function createAddressPage({ ask, authenticate, forms, hasConsole }: AccountPagesDeps) {
  const tokenOf = ({ path }: Exchange) => path.slice(ADDRESS_PREFIX.length)
  const show = (exchange: Exchange, status: number, title: string, body: Html, headers = {}) =>
    sendPage(exchange, status, { title, tabs: tabsAt(SECURITY_PATH, { hasConsole }), body }, headers)

  return {
    async get(exchange: Exchange): Promise<void> {
      if (!(await sessionOf(exchange, authenticate))) return
      const { field, headers } = forms.protect(exchange)
      // The form has no action: it goes to where the page is, whose text then holds nothing of the link.
      const body = html`<p>From then on you sign in with the address this link was sent to.</p>
<form method="post">${field}
<button>Change the address</button>
</form>`
      show(exchange, 200, 'Change your address', body, headers)
    },

    async post(exchange: Exchange): Promise<void> {
      await forms.read(exchange)
      if (!(await sessionOf(exchange, authenticate))) return
      const answer = await ask(exchange, 'confirm-address', { token: tokenOf(exchange) })
      if (answer.ok) {
        const body = html`<p>You stay signed in. Next time, sign in with the new one.</p>
<p><a href="${SECURITY_PATH}">Sign-in and security</a></p>`
        return show(exchange, 200, 'Your address is changed', body)
      }
      const body = html`<p>It is more than a day old, was for another account than the one you are signed in to, or the
address is taken. Nothing was changed.</p>`
      show(exchange, 404, 'This link is over', body)
    },
  }
}
