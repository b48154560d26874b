import type { AskAuth } from '../../auth/asking.ts'
import type { Authenticate } from '../../entry/authenticate.ts'
import type { PasswordLimit } from '../../entry/password-limit.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Forms } from '../forms.ts'
import { redirect } from '../layout.ts'
import { loginPath } from '../login.ts'

export const SECURITY_PATH = '/account/security'
export const SESSIONS_PATH = '/account/sessions'

export interface AccountPagesDeps {
  ask: AskAuth
  authenticate: Authenticate
  forms: Forms
  passwordLimit: PasswordLimit
  /** Whether there is a console, which has the other pages of an account. */
  hasConsole: boolean
}

/** The pages of an account by their paths, as they stand beside one another. */
const OWN_TABS = { [SESSIONS_PATH]: 'Sessions', [SECURITY_PATH]: 'Security' }
const ALL_TABS = {
  '/account': 'Profile',
  '/account/keys': 'Keys',
  '/account/agents': 'Agents',
  ...OWN_TABS,
}

export const tabsAt = (current: string, { hasConsole }: { hasConsole: boolean }) => ({
  all: hasConsole ? ALL_TABS : OWN_TABS,
  current,
})

/** The id of the session somebody is here with. Who has none is sent to sign in, and comes back. */
export async function sessionOf(exchange: Exchange, authenticate: Authenticate): Promise<string | undefined> {
  const caller = await authenticate(exchange.request)
  if (caller?.credential.kind === 'session') return caller.credential.id
  redirect(exchange, loginPath(exchange.path))
  return undefined
}
