import type { Oid } from '../git/names.ts'
import { ObjectMissing, type ObjectReader, resolveRevision } from '../git/objects/reader.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Repositories } from './repositories.ts'

export type Revisions = ReturnType<typeof createRevisions>

/** Finds what people mean by `main`, `v1.0` or an id. */
export function createRevisions({ repositories }: { repositories: Repositories }) {
  async function findOid(repo: RepoRow, revision: string | undefined): Promise<Oid | undefined> {
    if (revision === undefined) return repositories.findOid(repo, 'HEAD')
    return resolveRevision(revision, (name) => repositories.findOid(repo, name))
  }

  /** The commit at a revision, through annotated tags; the default branch's without one. */
  async function commitIn(objects: ObjectReader, repo: RepoRow, revision: string | undefined): Promise<Oid> {
    const missing = () =>
      new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: revision ?? repo.default_branch })
    const oid = await findOid(repo, revision)
    if (!oid) throw missing()
    const found = await objects.peel(oid)
    // An id is what a caller says; a ref is what we say, and must point to something.
    if (!found && oid !== revision?.toLowerCase()) throw new ObjectMissing(oid)
    if (found?.type !== 'commit') throw missing()
    return found.oid
  }

  return {
    findOid,
    commitIn,

    /** For those who look at nothing else. */
    commitAt: (repo: RepoRow, revision: string | undefined, signal: AbortSignal): Promise<Oid> =>
      repositories.withObjects(repo, signal, (objects) => commitIn(objects, repo, revision)),
  }
}
