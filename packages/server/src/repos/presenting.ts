import type { Repo } from '@trellis/contract'
import { type Caller, can } from '../access/caller.ts'
import { isoTimeOrNull } from '../platform/clock.ts'
import type { ListedRepo } from './store.ts'

/** How repositories look to a caller; what depends on the caller alone is found out once. */
export const createPresenter =
  (baseUrl: string) =>
  (caller: Caller): ((repo: ListedRepo) => Repo) => {
    const mayWrite = can(caller, 'repo:write') && !caller.org.frozen
    const canAdmin = can(caller, 'repo:admin')
    const remotes = `${baseUrl}/git/${caller.org.slug}`
    return (repo) => ({
      name: repo.name,
      ownerId: repo.org_id,
      defaultBranch: repo.default_branch,
      artifactId: repo.artifact_id,
      remote: `${remotes}/${repo.name}.git`,
      readOnly: repo.read_only === 1,
      canWrite: mayWrite && repo.read_only === 0,
      canAdmin,
      sizeBytes: repo.size_bytes,
      lastPushAt: isoTimeOrNull(repo.last_push_at),
      source: repo.source,
      createdAt: repo.created_at,
      updatedAt: repo.updated_at,
    })
  }
