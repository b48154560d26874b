import type { Base, Module } from '../modules.ts'
import type { ReposService } from '../repos/service.ts'
import { createSealer } from '../secrets/sealing.ts'
import { secretsHandlers } from './handlers.ts'
import { createRepoSecrets } from './service.ts'

interface RepoSecretsNeeds extends Base {
  repos: ReposService
}

export function createRepoSecretsModule(needs: RepoSecretsNeeds) {
  const secrets = createRepoSecrets({ ...needs, sealer: createSealer(needs.serverKey, 'repository secrets') })
  const { enabled } = needs.config.extensions
  return {
    services: { secrets },
    handlers: { secrets: secretsHandlers(enabled ? secrets : undefined) },
  } satisfies Module
}
