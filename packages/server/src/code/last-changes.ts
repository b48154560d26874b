import type { Caller } from '../access/caller.ts'
import { nameBytes } from '../git/objects/format.ts'
import type { ObjectReader } from '../git/objects/reader.ts'
import { createLastChanges, type LastChanges } from '../git/objects/walk/last-changes.ts'
import { createReading } from '../git/objects/walk/reading.ts'
import { createRecent } from '../platform/recent.ts'
import type { BrowsingDeps } from './browsing.ts'
import { summarizeAll } from './commit-summaries.ts'
import { type DirectoryInput, withDirectoryPage } from './directory-pages.ts'
import { directoryName } from './repositories.ts'

/** For one answer. Whoever asks again goes on from there. */
const MAX_OBJECTS = 3_000
const MAX_DIRECTORIES = 1_000
/** Of all that are kept. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024

interface Kept {
  walk: LastChanges
  size: number
  /** Somebody goes on with it. */
  advancing: Promise<void> | undefined
}

export type LastChangesService = ReturnType<typeof createLastChangesService>

export function createLastChangesService(deps: BrowsingDeps) {
  const kept = createRecent<string, Kept>({
    maxEntries: MAX_DIRECTORIES,
    weight: { of: ({ size }) => size, max: MAX_KEPT_BYTES },
  })

  /** As far as one answer goes. Whoever comes while somebody is at it gets what that one finds. */
  async function follow(
    objects: ObjectReader,
    key: string,
    begin: () => LastChanges,
    signal: AbortSignal,
  ): Promise<LastChanges> {
    const { walk, advancing } = kept.get(key) ?? { walk: begin() }
    if (advancing) await advancing.catch(() => {})
    else if (!walk.isOver) {
      const going = walk.advance(createReading(objects, { maxObjects: MAX_OBJECTS, signal }))
      kept.set(key, { walk, size: walk.size, advancing: going })
      try {
        await going
      } finally {
        kept.set(key, { walk, size: walk.size, advancing: undefined })
      }
    }
    return walk
  }

  return {
    /** In the order and the pages of the directory itself. */
    list: (caller: Caller, input: DirectoryInput, signal: AbortSignal) =>
      withDirectoryPage(deps, caller, input, signal, async (page) => {
        const { repo, objects, commit, path, entries, nextCursor } = page
        const key = [directoryName(repo), commit, path ?? ''].join(' ')
        const walk = await follow(objects, key, () => createLastChanges(commit, path), signal)
        const changes = entries.map((entry) => ({
          name: entry.name,
          oid: walk.found.get(nameBytes(entry).toString('latin1')),
        }))
        const oids = new Set(changes.flatMap(({ oid }) => oid ?? []))
        const commits = new Map((await summarizeAll(objects, [...oids])).map((read) => [read.oid, read]))
        const items = changes.map(({ name, oid }) => ({ name, commit: (oid && commits.get(oid)) ?? null }))
        return {
          commit,
          items,
          complete: walk.isOver || items.every((item) => item.commit !== null),
          nextCursor,
        }
      }),
  }
}
