import type { Base, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import { credentialsHandlers } from './handlers.ts'
import { createSelfService } from './self.ts'

export function createAccessModule({ database, orgs }: Base & { orgs: OrgsService }) {
  const self = createSelfService({ db: database.db, orgs })
  return { services: {}, handlers: { credentials: credentialsHandlers(self) } } satisfies Module
}
