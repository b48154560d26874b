import type { Oid } from '../git/names.ts'
import { isAncestor } from '../git/objects/history.ts'
import { createWalks } from '../git/objects/walk/walks.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Repositories } from './repositories.ts'

/** Whether a branch at one commit may move to another and keep all it has. */
export async function isFastForward(
  repositories: Repositories,
  repo: RepoRow,
  { before, after }: { before: Oid; after: Oid },
  signal: AbortSignal,
): Promise<boolean> {
  const near = await repositories.withObjects(repo, signal, (objects) =>
    createWalks(objects, signal).isAncestor(before, after),
  )
  return near ?? repositories.withGit(repo, signal, (opened) => isAncestor(opened, before, after))
}
