import type { Caller } from '../access/caller.ts'
import type { Oid, TreePath } from '../git/names.ts'
import type { TreeEntry } from '../git/objects/format.ts'
import type { ObjectReader } from '../git/objects/reader.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import { type BrowsingDeps, type Paged, readPlace, refuseLarge, requirePath, writePlace } from './browsing.ts'

export interface DirectoryInput extends Paged {
  name: string
  ref?: string | undefined
  path?: string | undefined
}

interface DirectoryPage {
  repo: RepoRow
  objects: ObjectReader
  commit: Oid
  path: TreePath | undefined
  entries: TreeEntry[]
  nextCursor: string | null
}

/** Opens a page of a directory for whoever tells something of each entry in it. */
export async function withDirectoryPage<Result>(
  { repos, repositories, revisions }: BrowsingDeps,
  caller: Caller,
  input: DirectoryInput,
  signal: AbortSignal,
  tell: (page: DirectoryPage) => Promise<Result>,
): Promise<Result> {
  const path = input.path === undefined ? undefined : requirePath(input.path)
  const repo = await repos.open(caller, input.name, 'repo:read')
  const place = readPlace(input.cursor)
  const offset = place?.offset ?? 0
  return repositories.withObjects(repo, signal, async (objects) => {
    const commit = place?.oid ?? (await revisions.commitIn(objects, repo, input.ref))
    const all = await objects.findDirectory(commit, path).catch(refuseLarge)
    if (!all) throw new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: path ?? commit })
    const entries = all.slice(offset, offset + input.limit)
    const end = offset + entries.length
    const nextCursor = end < all.length ? writePlace({ oid: commit, offset: end }) : null
    return tell({ repo, objects, commit, path, entries, nextCursor })
  })
}
