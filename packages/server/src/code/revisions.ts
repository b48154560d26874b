import type { Oid } from '../git/names.ts'
import { ObjectMissing, type ObjectReader, resolveRevision } from '../git/objects/reader.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Repositories } from './repositories.ts'

interface Located {
  oid: Oid
  /** As it was asked for. */
  revision: string | undefined
}

export type Revisions = ReturnType<typeof createRevisions>

/** Finds what people mean by `main`, `v1.0` or an id. */
export function createRevisions({ repositories }: { repositories: Repositories }) {
  async function findOid(repo: RepoRow, revision: string | undefined): Promise<Oid | undefined> {
    if (revision === undefined) return repositories.findOidAsRead(repo, 'HEAD')
    return resolveRevision(revision, (name) => repositories.findOidAsRead(repo, name))
  }

  const missing = (repo: RepoRow, revision: string | undefined) =>
    new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: revision ?? repo.default_branch })

  /** What a revision points to, whatever that is. */
  async function locate(repo: RepoRow, revision: string | undefined): Promise<Located> {
    const oid = await findOid(repo, revision)
    if (!oid) throw missing(repo, revision)
    return { oid, revision }
  }

  /** The commit there, through annotated tags. */
  async function commitFrom(objects: ObjectReader, repo: RepoRow, { oid, revision }: Located): Promise<Oid> {
    const found = await objects.peel(oid)
    // An id is what a caller says; a ref is what we say, and must point to something.
    if (!found && oid !== revision?.toLowerCase()) throw new ObjectMissing(oid)
    if (found?.type !== 'commit') throw missing(repo, revision)
    return found.oid
  }

  /** The commit at a revision, through annotated tags; the default branch's without one. */
  const commitIn = async (objects: ObjectReader, repo: RepoRow, revision: string | undefined): Promise<Oid> =>
    commitFrom(objects, repo, await locate(repo, revision))

  return {
    findOid,
    locate,
    commitFrom,
    commitIn,

    /** For those who look at nothing else. */
    commitAt: (repo: RepoRow, revision: string | undefined, signal: AbortSignal): Promise<Oid> =>
      repositories.withObjects(repo, signal, (objects) => commitIn(objects, repo, revision)),
  }
}
