import { API_PREFIX } from '@trellis/contract'
import type { InvitesService } from '../../invites/service.ts'
import { Fault } from '../../platform/fault.ts'
import { type Exchange, send, sendJson } from '../http/exchange.ts'
import { type Html, html } from './html.ts'
import { readable, sendPage } from './layout.ts'

export interface InvitePageDeps {
  invites: InvitesService
  baseUrl: string
}

export const INVITE_PREFIX = '/invites/'
/** In the query, for whoever has made the repository just now, and not been invited to it. */
export const MADE = 'made'

/**
 * What an invite's URL shows: a page for people, Markdown or JSON for agents. Looking takes nothing; only the button,
 * or the operation, takes a clone: previews of links in chats must not use an invite up.
 */
export function createInvitePage({ invites, baseUrl }: InvitePageDeps) {
  const idOf = ({ path }: Exchange) => path.slice(INVITE_PREFIX.length)

  return {
    async get(exchange: Exchange): Promise<void> {
      const kind = wanted(exchange.request.headers.accept)
      const id = idOf(exchange)
      try {
        const invite = await invites.look(id)
        const reveal = { method: 'POST', url: `${baseUrl}${API_PREFIX}/invites/reveal`, body: { id } }
        if (kind === 'json') return sendJson(exchange, 200, { ...invite, reveal })
        if (kind === 'markdown')
          return send(exchange, 200, 'text/markdown; charset=utf-8', markdown(invite, reveal), {
            'cache-control': 'no-store',
          })
        sendPage(exchange, 200, {
          title: `Take a clone of ${invite.repo}`,
          body: html`${new URLSearchParams(exchange.query).has(MADE) ? made(invite) : invited(invite)}
<form method="post" action="${INVITE_PREFIX}${id}"><button>Show me how to clone it</button></form>
<p>This uses one of the invitation's clones. The clone works for a limited time.</p>`,
        })
      } catch (error) {
        if (kind === 'page') return explain(exchange, error)
        throw error
      }
    },

    async post(exchange: Exchange): Promise<void> {
      try {
        const given = await invites.reveal(idOf(exchange))
        sendPage(exchange, 200, {
          title: `Clone ${given.repo}`,
          body: html`<p>Run this before ${readable(given.tokenExpiresAt)}. It contains a secret: keep it to yourself.</p>
<pre>${given.cloneCommand}</pre>
<h2>For a coding agent</h2>
<pre>${given.prompt}</pre>`,
        })
      } catch (error) {
        explain(exchange, error)
      }
    },
  }
}

interface Shown {
  repo: string
  scope: string
  expiresAt: string
}

const invited = ({ repo, scope, expiresAt }: Shown): Html =>
  html`<p>You have been invited to ${scope === 'write' ? 'read and push to' : 'read'} the git
repository <strong>${repo}</strong>. The invitation is good until ${readable(expiresAt)}.</p>`

const made = ({ repo, expiresAt }: Shown): Html =>
  html`<p>The git repository <strong>${repo}</strong> is there until ${readable(expiresAt)}. Keep the address of this page:
it is the way back, and whoever has it can read and push.</p>`

function explain(exchange: Exchange, error: unknown): void {
  if (!(error instanceof Fault)) throw error
  sendPage(exchange, error.status, {
    title: error.message,
    body: html`<p>Ask whoever sent you this link for a new one.</p>`,
  })
}

function wanted(accept = ''): 'page' | 'markdown' | 'json' {
  const types = accept.split(',').map((part) => part.split(';')[0]?.trim())
  const first = types.find(
    (type) => type === 'text/html' || type === 'text/markdown' || type === 'application/json',
  )
  if (first === 'text/markdown') return 'markdown'
  return first === 'application/json' ? 'json' : 'page'
}

function markdown(invite: Shown, reveal: { url: string; body: { id: string } }): string {
  return `# Invitation to the git repository ${invite.repo}

You may ${invite.scope === 'write' ? 'clone it and push to it' : 'clone it'}. The invitation is good until ${invite.expiresAt}.

Taking a clone uses the invitation up a little, so do it once, when you are ready to work:

\`\`\`sh
curl -s ${reveal.url} -H 'content-type: application/json' -d '${JSON.stringify(reveal.body)}'
\`\`\`

The answer has \`cloneCommand\` to run, \`tokenExpiresAt\` until when it works, and \`prompt\` with the steps in words.
`
}
