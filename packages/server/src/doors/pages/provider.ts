import type { Auth } from '../../people/auth.ts'
import { type AskAuth, refusalIn } from '../auth/asking.ts'
import { comesFromHere } from '../entry/same-origin.ts'
import type { Exchange } from '../http/exchange.ts'
import { html } from './html.ts'
import { redirect, sendPage } from './layout.ts'
import { localPath, loginPath } from './login.ts'
import { LINK } from './provider-links.ts'

interface ProviderPageDeps {
  ask: AskAuth
  auth: Auth
  baseUrl: string
}

/**
 * Sends somebody to a provider, who sends them back. A link, since browsers keep a form from leading to another site;
 * only our own pages have it, so that no other page begins a sign-in for its visitors.
 */
export function createProviderPage({ ask, auth, baseUrl }: ProviderPageDeps) {
  const { origin } = new URL(baseUrl)
  return async (exchange: Exchange): Promise<void> => {
    const query = new URLSearchParams(exchange.query)
    const returnTo = localPath(query.get('return_to'))
    const provider = auth.providers.find(({ id }) => id === query.get('provider'))
    if (!provider || !comesFromHere(exchange.request.headers, origin))
      return redirect(exchange, loginPath(returnTo))
    const isLinking = query.has(LINK)
    const answer = await ask(exchange, isLinking ? 'link-social' : 'sign-in/social', {
      provider: provider.id,
      callbackURL: returnTo,
      errorCallbackURL: isLinking ? returnTo : loginPath(returnTo),
      disableRedirect: true,
    })
    const cookies = { 'set-cookie': answer.headers.getSetCookie() }
    if (answer.ok) return redirect(exchange, ((await answer.json()) as { url: string }).url, cookies)
    sendPage(exchange, 502, {
      title: `${provider.name} cannot be reached`,
      body: html`<p>${(await refusalIn(answer)).message}. <a href="${loginPath(returnTo)}">Sign in in another way</a>.</p>`,
    })
  }
}
