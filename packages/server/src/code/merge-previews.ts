import type { Caller } from '../access/caller.ts'
import { findMergeBases } from '../git/objects/history.ts'
import { mergeTrees } from '../git/objects/merge.ts'
import { createWalks } from '../git/objects/walk/walks.ts'
import { Fault } from '../platform/fault.ts'
import type { BrowsingDeps } from './browsing.ts'
import { requireBranch } from './refs.ts'

export type MergePreviewsService = ReturnType<typeof createMergePreviewsService>

/** What a merge would come to. */
export function createMergePreviewsService({ repos, repositories, revisions }: BrowsingDeps) {
  return {
    /** Nothing of it is kept. */
    async preview(
      caller: Caller,
      input: { name: string; branch: string; from: string },
      signal: AbortSignal,
    ) {
      const ref = requireBranch(input.branch)
      const repo = await repos.open(caller, input.name, 'repo:read')
      const ours = await repositories.findOid(repo, ref)
      if (!ours) throw new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: input.branch })
      const { theirs, near } = await repositories.withObjects(repo, signal, async (objects) => {
        const theirs = await revisions.commitIn(objects, repo, input.from)
        return { theirs, near: await createWalks(objects, signal).findMergeBases(ours, theirs) }
      })
      const bases =
        near ?? (await repositories.withGit(repo, signal, (opened) => findMergeBases(opened, ours, theirs)))
      const answer = {
        branch: input.branch,
        oid: ours,
        from: theirs,
        conflicts: [],
        conflictsTruncated: false,
      }
      if (bases.length === 0) return { ...answer, outcome: 'unrelated' as const }
      if (bases.includes(theirs)) return { ...answer, outcome: 'up-to-date' as const }
      if (bases.includes(ours)) return { ...answer, outcome: 'fast-forward' as const }
      const merged = await repositories.withQuarantine(repo, signal, ({ objectsDir }, opened) =>
        mergeTrees(opened, objectsDir, { ours, theirs }),
      )
      if ('tree' in merged) return { ...answer, outcome: 'merged' as const }
      return {
        ...answer,
        outcome: 'conflict' as const,
        conflicts: merged.conflicts,
        conflictsTruncated: merged.truncated,
      }
    },
  }
}
