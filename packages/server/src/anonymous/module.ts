import type { Ending } from '../access/endings.ts'
import type { Base, Module } from '../modules.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Throttles } from '../platform/throttles.ts'
import type { ReposService } from '../repos/service.ts'
import { createAnonymousService } from './service.ts'

interface AnonymousNeeds extends Base {
  orgs: OrgsService
  repos: ReposService
  throttles: Throttles
  ending: Ending
}

export function createAnonymousModule(needs: AnonymousNeeds) {
  const anonymous = createAnonymousService({ ...needs, limits: needs.config.limits })
  return { services: { anonymous } } satisfies Module
}
