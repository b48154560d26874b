import type { RepoSecret } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import type { Sealer } from '../secrets/sealing.ts'
import * as store from './store.ts'

interface Named {
  name: string
  secret: string
}

export type RepoSecrets = ReturnType<typeof createRepoSecrets>

/** What extensions of a repository are trusted with. Kept encrypted, never shown again, gone with the repository. */
export function createRepoSecrets({
  database,
  repos,
  sealer,
  clock,
  maxPerRepo,
}: {
  database: Database
  repos: ReposService
  sealer: Sealer
  clock: Clock
  maxPerRepo: number
}) {
  return {
    async set(caller: Caller, { name, secret, value }: Named & { value: string }): Promise<RepoSecret> {
      const repo = await repos.open(caller, name, 'repo:admin')
      repos.requireWritable(caller, repo)
      const row = { repo_id: repo.id, name: secret, sealed: sealer.seal(value), updated_at: clock() }
      await database.transact(async (tx) => {
        // Counted under the lock of the repository.
        if (!(await repos.lockIn(tx, repo.id))) throw new Fault('REPO_NOT_FOUND', { name })
        const known = await store.listNames(tx, repo.id)
        if (known.length >= maxPerRepo && !known.some((other) => other.name === secret))
          throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit: maxPerRepo, observed: known.length })
        await store.putSecret(tx, row)
      })
      return { secret, updatedAt: row.updated_at }
    },

    async list(caller: Caller, { name }: { name: string }): Promise<{ items: RepoSecret[] }> {
      const repo = await repos.open(caller, name, 'repo:admin')
      const rows = await store.listNames(database.db, repo.id)
      return { items: rows.map((row) => ({ secret: row.name, updatedAt: row.updated_at })) }
    },

    async delete(caller: Caller, { name, secret }: Named): Promise<{ deleted: boolean }> {
      const repo = await repos.open(caller, name, 'repo:admin')
      repos.requireWritable(caller, repo)
      return { deleted: await database.transact((tx) => store.deleteSecret(tx, repo.id, secret)) }
    },

    /** Those of the named ones that were set, for a run that was granted them. */
    async reveal(repoId: string, names: readonly string[]): Promise<Record<string, string>> {
      if (names.length === 0) return {}
      const rows = await store.listSealed(database.db, repoId, names)
      return Object.fromEntries(rows.map((row) => [row.name, sealer.open(row.sealed)]))
    },
  }
}
