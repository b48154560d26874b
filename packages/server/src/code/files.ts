import type { Caller } from '../access/caller.ts'
import type { Oid } from '../git/names.ts'
import { type FileList, findFiles, listFiles } from '../git/objects/file-list.ts'
import { ObjectMissing } from '../git/objects/reader.ts'
import { createShares } from '../platform/shares.ts'
import type { RepoRow } from '../repos/service.ts'
import { type BrowsingDeps, type Paged, readPlace, writePlace } from './browsing.ts'
import { searchPaths } from './path-search.ts'
import { directoryName } from './repositories.ts'

/** What is kept of lists, of all organizations and of one. A list of 100,000 takes some ten megabytes. */
const KEPT_BYTES = 64 * 1024 * 1024
const KEPT_BYTES_EACH = 24 * 1024 * 1024
/** What a path takes beside its characters. */
const PATH_BYTES = 40

export type FilesService = ReturnType<typeof createFilesService>

/** Finding files by name. */
export function createFilesService({ repos, repositories, revisions }: BrowsingDeps) {
  /** Whoever looks for one asks again with every letter. */
  const kept = createShares<{ list: FileList; bytes: number }>({
    max: KEPT_BYTES,
    maxEach: KEPT_BYTES_EACH,
    weightOf: ({ bytes }) => bytes,
  })

  async function filesOf(repo: RepoRow, tree: Oid, signal: AbortSignal): Promise<FileList> {
    const key = `${directoryName(repo)} ${tree}`
    const known = kept.get(repo.org_id, key)
    if (known) return known.list
    const list =
      (await repositories.withObjects(repo, signal, (objects) => findFiles(objects, tree, signal))) ??
      (await repositories.withGit(repo, signal, (opened) => listFiles(opened, tree)))
    const bytes = list.paths.reduce((sum, path) => sum + path.length + PATH_BYTES, PATH_BYTES)
    kept.set(repo.org_id, key, { list, bytes })
    return list
  }

  return {
    async find(
      caller: Caller,
      input: Paged & { name: string; ref?: string | undefined; query?: string | undefined },
      signal: AbortSignal,
    ) {
      const repo = await repos.open(caller, input.name, 'repo:read')
      const place = readPlace(input.cursor)
      const { commit, tree } = await repositories.withObjects(repo, signal, async (objects) => {
        const known = place && (await objects.findCommit(place.oid)) && place.oid
        const commit = known ?? (await revisions.commitIn(objects, repo, input.ref))
        const found = await objects.findCommit(commit)
        if (!found) throw new ObjectMissing(commit)
        return { commit, tree: found.tree }
      })
      const { paths, truncated } = await filesOf(repo, tree, signal)
      const { limit, query } = input
      const answer = { commit, total: paths.length, nextCursor: null }
      if (query?.trim()) {
        const found = await searchPaths(paths, { query, limit, signal })
        return { ...answer, paths: found.paths, truncated: found.truncated || truncated }
      }
      const offset = place?.offset ?? 0
      const end = offset + limit
      return {
        ...answer,
        paths: paths.slice(offset, end),
        truncated,
        nextCursor: end < paths.length ? writePlace({ oid: commit, offset: end }) : null,
      }
    },
  }
}
