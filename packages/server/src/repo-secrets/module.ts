import type { Base, Module } from '../modules.ts'
import type { ReposService } from '../repos/service.ts'
import { createSealer } from '../secrets/sealing.ts'
import { secretsHandlers } from './handlers.ts'
import { createRepoSecrets } from './service.ts'

interface RepoSecretsNeeds extends Base {
  repos: ReposService
}

export function createRepoSecretsModule(needs: RepoSecretsNeeds) {
  const { extensions, limits } = needs.config
  const secrets = createRepoSecrets({
    ...needs,
    sealer: createSealer(needs.serverKey, 'repository secrets'),
    maxPerRepo: limits.secretsPerRepo,
  })
  return {
    services: { secrets },
    handlers: { secrets: secretsHandlers(extensions.enabled ? secrets : undefined) },
  } satisfies Module
}
