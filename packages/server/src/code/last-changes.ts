import type { Caller } from '../access/caller.ts'
import { nameBytes } from '../git/objects/format.ts'
import { readCommits } from '../git/objects/history.ts'
import type { ObjectReader } from '../git/objects/reader.ts'
import { createLastChanges, type LastChanges } from '../git/objects/walk/last-changes.ts'
import { createReading } from '../git/objects/walk/reading.ts'
import { Fault } from '../platform/fault.ts'
import { createRecent } from '../platform/recent.ts'
import type { ReposService } from '../repos/service.ts'
import { type Paged, readPlace, refuseLarge, requirePath, writePlace } from './browsing.ts'
import { summarize } from './commit-summaries.ts'
import { directoryName, type Repositories } from './repositories.ts'
import type { Revisions } from './revisions.ts'

/** For one answer. Whoever asks again goes on from there. */
const MAX_OBJECTS = 3_000
const MAX_DIRECTORIES = 1_000
/** Entries and commits, of all that are kept; each takes about a hundred bytes. */
const MAX_KEPT = 200_000

interface Kept {
  walk: LastChanges
  size: number
  /** Somebody goes on with it. */
  advancing: Promise<void> | undefined
}

export type LastChangesService = ReturnType<typeof createLastChangesService>

export function createLastChangesService({
  repos,
  repositories,
  revisions,
}: {
  repos: ReposService
  repositories: Repositories
  revisions: Revisions
}) {
  const kept = createRecent<string, Kept>({
    maxEntries: MAX_DIRECTORIES,
    weight: { of: ({ size }) => size, max: MAX_KEPT },
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
    async list(
      caller: Caller,
      input: Paged & { name: string; ref?: string | undefined; path?: string | undefined },
      signal: AbortSignal,
    ) {
      const path = input.path === undefined ? undefined : requirePath(input.path)
      const repo = await repos.open(caller, input.name, 'repo:read')
      const place = readPlace(input.cursor)
      const offset = place?.offset ?? 0
      return repositories.withObjects(repo, signal, async (objects) => {
        const commit = place?.oid ?? (await revisions.commitIn(objects, repo, input.ref))
        const entries = await objects.findDirectory(commit, path).catch(refuseLarge)
        if (!entries) throw new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: path ?? commit })
        const page = entries.slice(offset, offset + input.limit)
        const key = [directoryName(repo), commit, path ?? ''].join(' ')
        const walk = await follow(objects, key, () => createLastChanges(commit, path), signal)
        const changes = page.map((entry) => ({
          name: entry.name,
          oid: walk.found.get(nameBytes(entry).toString('latin1')),
        }))
        const oids = new Set(changes.flatMap(({ oid }) => oid ?? []))
        const commits = new Map((await readCommits(objects, [...oids])).map((read) => [read.oid, read]))
        const items = changes.map(({ name, oid }) => {
          const read = oid && commits.get(oid)
          return { name, commit: read ? summarize(read) : null }
        })
        const end = offset + page.length
        return {
          commit,
          items,
          complete: walk.isOver || items.every((item) => item.commit !== null),
          nextCursor: end < entries.length ? writePlace({ oid: commit, offset: end }) : null,
        }
      })
    },
  }
}
