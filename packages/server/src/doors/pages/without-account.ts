import { RepoName } from '@trellis/contract'
import type { InvitesService } from '../../invites/service.ts'
import type { Authenticate } from '../entry/authenticate.ts'
import { limitedAddress } from '../entry/client-address.ts'
import type { Cookie } from '../entry/cookies.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Forms } from './forms.ts'
import { html } from './html.ts'
import { INVITE_PREFIX, MADE } from './invite.ts'
import { problemNote, redirect, sendPage } from './layout.ts'

interface WithoutAccountDeps {
  invites: InvitesService
  authenticate: Authenticate
  forms: Forms
  anonymousCookie: Cookie
  /** How long what is made here lasts. */
  lastsMs: number
  /** Where those make repositories who have an account. */
  newPath: string
}

export const WITHOUT_ACCOUNT_PATH = '/invites'

/** A clone taken from it works as long as the repository can last, which ends before by itself. */
const INVITE = { scope: 'write', grantTtlSeconds: 86_400, expiresIn: 7 * 86_400 } as const

const HOUR_MS = 3_600_000

/** Where somebody without an account gets a repository to push to: what `invites/createAnonymous` does, as a form. */
export function createWithoutAccountPage(deps: WithoutAccountDeps) {
  const { invites, authenticate, forms, anonymousCookie, lastsMs, newPath } = deps

  function show(exchange: Exchange, problem?: string, name = ''): void {
    const { field, headers } = forms.protect(exchange)
    const hours = Math.round(lastsMs / HOUR_MS)
    sendPage(
      exchange,
      problem ? 400 : 200,
      {
        title: 'Try it without an account',
        body: html`${problemNote(problem)}
<p>You get a repository to push to, and a link to it. It goes after ${hours === 1 ? 'an hour' : `${hours} hours`}, unless you
sign in with this browser before: then it is yours.</p>
<form method="post" action="${WITHOUT_ACCOUNT_PATH}">${field}
<label>Name of the repository <input name="name" value="${name}" maxlength="64" autocapitalize="none" spellcheck="false" required></label>
<button>Make the repository</button>
</form>
<p><a href="/login">Sign in instead</a></p>`,
      },
      headers,
    )
  }

  return {
    async get(exchange: Exchange): Promise<void> {
      if (await authenticate(exchange.request)) return redirect(exchange, newPath)
      show(exchange)
    },

    async post(exchange: Exchange): Promise<void> {
      const fields = await forms.read(exchange)
      if (await authenticate(exchange.request)) return redirect(exchange, newPath)
      const { address, request } = exchange
      const name = RepoName.safeParse(fields.get('name')?.trim())
      if (!name.success) return show(exchange, name.error.issues[0]?.message, fields.get('name') ?? '')
      const remembered: string[] = []
      const { id } = await invites.createAnonymous(
        {
          visitor: undefined,
          anonymousSecret: anonymousCookie.read(request.headers.cookie),
          address,
          limitedAddress: limitedAddress(address),
          remember: (secret) => remembered.push(anonymousCookie.write(secret)),
        },
        { ...INVITE, name: name.data },
      )
      redirect(exchange, `${INVITE_PREFIX}${id}?${MADE}`, { 'set-cookie': remembered })
    },
  }
}
