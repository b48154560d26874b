import { type Html, html } from '../html.ts'
import { providerPath } from '../provider-links.ts'
import { SECURITY_PATH } from './visitor.ts'

export interface Offered {
  id: string
  name: string
}

/** A way somebody has come in, as better-auth lists it. */
export interface Account {
  id: string
  providerId: string
}

/** Who came with a provider has none, and nobody else can set one in their place. */
export const passwordSection = (field: Html, hasPassword: boolean): Html =>
  hasPassword
    ? html`<form method="post" action="${SECURITY_PATH}">${field}<input type="hidden" name="action" value="change-password">
<label>Current password <input type="password" name="password" autocomplete="current-password" required></label>
<label>New password, of ten characters or more
<input type="password" name="new-password" autocomplete="new-password" minlength="10" maxlength="256" required></label>
<button>Change the password</button></form>`
    : html`<p>You have none: you sign in with a provider or a passkey.</p>`

/** The providers that are configured: those that let the person in, and those that could. */
export function providersSection(
  field: Html,
  offered: readonly Offered[],
  accounts: readonly Account[],
): Html {
  if (offered.length === 0) return html``
  const rows = offered.map(({ id, name }) => {
    const account = accounts.find(({ providerId }) => providerId === id)
    return account
      ? html`<li><strong>${name}</strong><form method="post" action="${SECURITY_PATH}">${field}
<input type="hidden" name="action" value="unlink"><input type="hidden" name="id" value="${account.id}">
<button class="second" aria-label="Unlink ${name}">Unlink</button></form></li>`
      : html`<li><strong>${name}</strong><a class="button" rel="nofollow" href="${providerPath(id, SECURITY_PATH, { linking: true })}" aria-label="Link ${name}">Link</a></li>`
  })
  return html`<h2>Providers</h2>
<p>Whoever is signed in there is let in here.</p>
<ul class="rows">${rows}</ul>`
}
