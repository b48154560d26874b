import type { OrgsService } from '../orgs/service.ts'
import { Fault } from '../platform/fault.ts'
import type { Db, Tx } from '../schema.ts'

export interface OrgLimits {
  reposPerOrg: number
  orgBytes: number
  provisionalRepos: number
  provisionalBytes: number
}

/** What an organization may have: what the operator allows this one, or what the settings allow all of its kind. */
export function createOrgQuotas({ orgs, limits }: { orgs: OrgsService; limits: OrgLimits }) {
  const bytesOf = (isProvisional: boolean) => (isProvisional ? limits.provisionalBytes : limits.orgBytes)

  return {
    /** Counts a repository that is being made. What it gives throws where that is one too many. */
    async countRepoIn(tx: Tx, { id, provisional }: { id: string; provisional: boolean }) {
      const usual = provisional ? limits.provisionalRepos : limits.reposPerOrg
      if (await orgs.addRepoIn(tx, id, usual)) return () => {}
      const org = await orgs.find(tx, id)
      const limit = org?.max_repos ?? usual
      const observed = org?.repo_count ?? limit
      return () => {
        throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit, observed, projected: observed + 1 })
      }
    },

    /** Counts bytes, and throws where they are too many. */
    async addBytesIn(tx: Tx, org: { id: string; provisional: boolean }, added: number): Promise<void> {
      const { bytes, maxBytes } = await orgs.addBytesIn(tx, org.id, added)
      if (added > 0) requireWithin(maxBytes ?? bytesOf(org.provisional), bytes, added)
    },

    /** How many bytes all repositories of an organization may still grow by. */
    async findRoom(q: Db, orgId: string): Promise<number> {
      const org = await orgs.find(q, orgId)
      const limit = org?.max_bytes ?? bytesOf(org?.kind !== 'team')
      return Math.max(0, limit - (org?.size_bytes ?? 0))
    },
  }
}

export function requireWithin(limit: number, projected: number, addedBytes: number): void {
  if (projected > limit)
    throw new Fault('QUOTA_EXCEEDED', {
      scope: 'size',
      limit,
      observed: projected - addedBytes,
      projected,
    })
}
