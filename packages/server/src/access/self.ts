import type { CredentialSelf } from '@trellis/contract'
import type { OrgsService } from '../orgs/service.ts'
import type { Db } from '../schema.ts'
import type { Caller } from './caller.ts'
import { findCredentialFacts } from './credentials.ts'

export type SelfService = ReturnType<typeof createSelfService>

/** Tells callers who they are. */
export function createSelfService({ db, orgs }: { db: Db; orgs: OrgsService }) {
  return {
    async describe({ actor, credential, org, role, scopes, ...caller }: Caller): Promise<CredentialSelf> {
      const { kind, id } = credential
      if (kind === 'anonymous') throw new Error('Somebody without a credential was let in')
      const facts = await findCredentialFacts(db, credential)
      return {
        actor,
        kind,
        id,
        organization: { id: org.id, slug: org.slug, name: (await orgs.find(db, org.id))?.name ?? org.slug },
        role: kind === 'token' ? null : role,
        scopes: [...scopes],
        repo: facts.repo ?? null,
        refs: caller.onlyRefs ? [...caller.onlyRefs] : null,
        expiresAt: facts.expiresAt ?? caller.expiresAt,
      }
    },
  }
}
