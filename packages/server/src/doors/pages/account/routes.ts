import type { Routes } from '../../http/door.ts'
import { ADDRESS_PREFIX, createAddressPage } from './address.ts'
import { createSecurityPage } from './security.ts'
import { createSessionsPage } from './sessions.ts'
import { SECURITY_PATH, SESSIONS_PATH } from './visitor.ts'

/** The pages on which somebody looks after their own account. */
export function createAccountPages(deps: Parameters<typeof createSecurityPage>[0]): Routes {
  const security = createSecurityPage(deps)
  const sessions = createSessionsPage(deps)
  const address = createAddressPage(deps)
  return {
    [`GET ${SECURITY_PATH}`]: security.get,
    [`POST ${SECURITY_PATH}`]: security.post,
    [`GET ${SESSIONS_PATH}`]: sessions.get,
    [`POST ${SESSIONS_PATH}`]: sessions.post,
    ...(deps.canMail && {
      [`GET ${ADDRESS_PREFIX}*`]: address.get,
      [`POST ${ADDRESS_PREFIX}*`]: address.post,
    }),
  }
}
