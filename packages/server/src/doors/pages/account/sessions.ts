import { isoTime } from '../../../platform/clock.ts'
import type { Exchange } from '../../http/exchange.ts'
import { type Html, html } from '../html.ts'
import { readable, redirect, sendPage } from '../layout.ts'
import { type AccountPagesDeps, SESSIONS_PATH, sessionOf, tabsAt } from './visitor.ts'

/** As better-auth lists it: the id stands where the token would. */
interface Session {
  id: string
  createdAt: string
  expiresAt: string
  ipAddress?: string
  userAgent?: string
}

/** Where somebody is signed in, with a button to end each. */
export function createSessionsPage({ ask, authenticate, forms, hasConsole }: AccountPagesDeps) {
  return {
    async get(exchange: Exchange): Promise<void> {
      const current = await sessionOf(exchange, authenticate)
      if (!current) return
      const sessions = (await (await ask(exchange, 'list-sessions')).json()) as Session[]
      const newestFirst = sessions.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
      const { field, headers } = forms.protect(exchange)
      const button = (action: Html, label: string, of?: string) =>
        html`<form method="post" action="${SESSIONS_PATH}">${field}${action}
<button class="second"${of ? html` aria-label="${label}: ${of}"` : ''}>${label}</button></form>`
      const all = html`<input type="hidden" name="all" value="1">`
      sendPage(
        exchange,
        200,
        {
          title: 'Where you are signed in',
          tabs: tabsAt(SESSIONS_PATH, { hasConsole }),
          body: html`<ul class="rows">${newestFirst.map((session) => {
            const name = nameOf(session.userAgent)
            const id = html`<input type="hidden" name="id" value="${session.id}">`
            return html`<li><div><strong>${name}</strong><br>
<small>since ${readable(isoTime(Date.parse(session.createdAt)))}${session.ipAddress ? ` from ${session.ipAddress}` : ''}${session.id === current ? ', this one' : ''}</small></div>
${button(id, session.id === current ? 'Sign out' : 'End', name)}</li>`
          })}</ul>
${sessions.length > 1 ? button(all, 'End all others') : ''}`,
        },
        headers,
      )
    },

    async post(exchange: Exchange): Promise<void> {
      const fields = await forms.read(exchange)
      if (!(await sessionOf(exchange, authenticate))) return
      if (fields.has('all')) await ask(exchange, 'revoke-other-sessions', {})
      else await ask(exchange, 'revoke-session', { token: fields.get('id') ?? '' })
      redirect(exchange, SESSIONS_PATH)
    },
  }
}

/** In the order to look for them: each says it is those below it, too. */
const BROWSERS = { Edg: 'Edge', OPR: 'Opera', Firefox: 'Firefox', Chrome: 'Chrome', Safari: 'Safari' }
const SYSTEMS = {
  iPhone: 'iPhone',
  iPad: 'iPad',
  Android: 'Android',
  Windows: 'Windows',
  Mac: 'a Mac',
  Linux: 'Linux',
}

/** A browser as people call it; any other program as it calls itself. */
function nameOf(agent: string | undefined): string {
  if (!agent) return 'A program that did not say its name'
  const [browser, system] = [BROWSERS, SYSTEMS].map(
    (names) => Object.entries(names).find(([word]) => agent.includes(word))?.[1],
  )
  return browser && system ? `${browser} on ${system}` : agent
}
