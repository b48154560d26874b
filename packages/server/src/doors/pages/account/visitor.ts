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
}

/** The id of the session somebody is here with. Who has none is sent to sign in, and comes back. */
export async function sessionOf(exchange: Exchange, authenticate: Authenticate): Promise<string | undefined> {
  const caller = await authenticate(exchange.request)
  if (caller?.credential.kind === 'session') return caller.credential.id
  redirect(exchange, loginPath(exchange.path))
  return undefined
}
