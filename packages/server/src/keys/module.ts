import type { CredentialEnding } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import type { Base, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import { keysHandlers } from './handlers.ts'
import { createKeysService } from './service.ts'
import { createKeyUsage } from './usage.ts'

interface KeysNeeds extends Base {
  events: EventsService
  orgs: OrgsService
  credentialEnding: CredentialEnding
}

export function createKeysModule(needs: KeysNeeds) {
  const keys = createKeysService({ ...needs, limits: needs.config.limits })
  const keyUsage = createKeyUsage(needs)
  return {
    services: { keys, keyUsage },
    handlers: { keys: keysHandlers(keys) },
    work: [keyUsage.work],
    // What was used since the last time.
    close: () => keyUsage.write().catch(() => {}),
  } satisfies Module
}
