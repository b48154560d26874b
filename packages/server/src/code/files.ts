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

  /** Lists that are being made: whoever wants one of them waits until it is kept. */
  const underWay = new Map<string, Promise<FileList>>()

  async function filesOf(repo: RepoRow, tree: Oid, signal: AbortSignal): Promise<FileList> {
    const key = `${directoryName(repo)} ${tree}`
    for (;;) {
      signal.throwIfAborted()
      const known = kept.get(repo.org_id, key)
      if (known) return known.list
      const other = underWay.get(key)
      if (!other) break
      // It may end because the one it is made for has left, or be too large to be kept.
      await other.catch(() => undefined)
    }
    const made = makeList(repo, tree, signal)
    underWay.set(key, made)
    try {
      const list = await made
      const bytes = list.paths.reduce((sum, path) => sum + path.length + PATH_BYTES, PATH_BYTES)
      kept.set(repo.org_id, key, { list, bytes })
      return list
    } finally {
      underWay.delete(key)
    }
  }

  async function makeList(repo: RepoRow, tree: Oid, signal: AbortSignal): Promise<FileList> {
    return (
      (await repositories.withObjects(repo, signal, (objects) => findFiles(objects, tree, signal))) ??
      (await repositories.withGit(repo, signal, (opened) => listFiles(opened, tree)))
    )
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
