import type { Repositories } from '../code/repositories.ts'
import type { Oid } from '../git/names.ts'
import { checkOutTree } from '../git/objects/checkout.ts'
import { GitOverLimit } from '../git/process/allowances.ts'
import type { ReposService } from '../repos/service.ts'
import { type CheckOut, TreeRefused } from '../runtime/sandbox/trees.ts'

const MAX_FILES = 100_000

/** Gives sandboxes the files of the commits they are run for. */
export function createCheckOut({
  repos,
  repositories,
  maxBytes,
}: {
  repos: ReposService
  repositories: Repositories
  maxBytes: number
}): CheckOut {
  return async ({ repoId, commitSha }, directory, signal) => {
    const repo = await repos.find(repoId)
    if (!repo) throw new TreeRefused('The repository is gone')
    const commit = commitSha as Oid
    try {
      await repositories.withGit(repo, signal, (opened) =>
        checkOutTree(opened, { commit, directory, maxBytes, maxFiles: MAX_FILES }),
      )
    } catch (cause) {
      throw cause instanceof GitOverLimit ? new TreeRefused(cause.message, { cause }) : cause
    }
  }
}
