import type { Caller } from '../access/caller.ts'
import { branchRef, type Oid, parseBranchName } from '../git/names.ts'
import { ObjectMissing, type ObjectReader } from '../git/objects/reader.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import { summarize } from './commit-summaries.ts'
import type { Distances } from './distances.ts'
import type { Repositories } from './repositories.ts'
import type { Revisions } from './revisions.ts'

interface CompareInput {
  name: string
  base?: string | undefined
  branches: readonly string[]
}

export type BranchesService = ReturnType<typeof createBranchesService>

export function createBranchesService({
  repos,
  repositories,
  revisions,
  distances,
}: {
  repos: ReposService
  repositories: Repositories
  revisions: Revisions
  distances: Distances
}) {
  /** The default branch need not exist yet. */
  async function baseOf(objects: ObjectReader, repo: RepoRow, revision: string | undefined) {
    if (revision === undefined && !(await revisions.findOid(repo, undefined))) return null
    return {
      name: revision ?? repo.default_branch,
      oid: await revisions.commitIn(objects, repo, revision),
    }
  }

  return {
    /** How far branches are from a revision, and what was done last on each. Those that are not there are left out. */
    async compare(caller: Caller, input: CompareInput, signal: AbortSignal) {
      const repo = await repos.open(caller, input.name, 'repo:read')
      const { refs } = await repositories.refList(repo)
      const tips = [...new Set(input.branches)].flatMap((name) => {
        const parsed = parseBranchName(name)
        const oid = parsed && refs.find(branchRef(parsed))?.oid
        return oid ? [{ name, oid }] : []
      })
      return repositories.withObjects(repo, signal, async (objects) => {
        const base = await baseOf(objects, repo, input.base)
        const oids = tips.map(({ oid }) => oid)
        const apart = base && (await distances.from(objects, { base: base.oid, tips: oids }, signal))
        const items = tips.map(async ({ name, oid }) => ({
          name,
          oid,
          ahead: apart?.get(oid)?.ahead ?? null,
          behind: apart?.get(oid)?.behind ?? null,
          lastCommit: await lastCommitOf(objects, oid),
        }))
        return { base, items: await Promise.all(items) }
      })
    },
  }
}

async function lastCommitOf(objects: ObjectReader, oid: Oid) {
  const commit = await objects.findCommit(oid)
  if (!commit) throw new ObjectMissing(oid)
  return summarize({ oid, ...commit })
}
