// Pages of a history. What was listed of it is kept for a while: the next page goes on from there, where git would
// begin anew and skip.

import { createRecent } from '../../../platform/recent.ts'
import type { Oid, TreePath } from '../../names.ts'
import type { OpenRepo } from '../../process/command.ts'
import { listCommitOids } from '../history.ts'
import { createHistoryWalk, type HistoryWalk } from './history-walk.ts'
import { createReading, type ObjectBytes, unlessLeftToGit } from './reading.ts'

interface PageQuery {
  /** Names the repository, in a state in which no object goes away. */
  scope: string
  from: Oid
  /** Only commits that changed it. */
  path?: TreePath
  skip: number
  limit: number
}

interface Page {
  oids: readonly Oid[]
  more: boolean
}

/** A part of a history, in its order. */
interface Part {
  offset: number
  listed: readonly Oid[]
  /** Nothing follows. */
  isOver: boolean
}

interface Kept {
  walk: HistoryWalk
  /** When it was kept. */
  size: number
  /** Somebody goes on with it. Others cannot meanwhile, nor later, if it comes to nothing. */
  isTaken: boolean
}

/** For one page. */
const MAX_OBJECTS = 2_000
/** Of one history. */
const MAX_KEPT = 20_000
/** A commit takes about a hundred bytes. */
const MAX_KEPT_OF_ALL = 200_000
const MAX_HISTORIES = 1_000
/** How many pages git is asked for at once: it has to go through all those before each time. */
const PAGES_AHEAD = 4
/** Without a path they are cheap to list. */
const COMMITS_AHEAD = 1_000

export function createHistoryPages() {
  const walks = createRecent<string, Kept>({
    maxEntries: MAX_HISTORIES,
    weight: { of: ({ size }) => size, max: MAX_KEPT_OF_ALL },
  })
  const asked = createRecent<string, Part>({
    maxEntries: MAX_HISTORIES,
    weight: { of: ({ listed }) => listed.length, max: MAX_KEPT_OF_ALL },
  })
  const keyOf = ({ scope, from, path = '' as TreePath }: PageQuery) => `${scope} ${from} ${path}`

  return {
    /** Undefined where git is to be asked. */
    async find(objects: ObjectBytes, query: PageQuery, signal: AbortSignal): Promise<Page | undefined> {
      const key = keyOf(query)
      const end = query.skip + query.limit + 1
      const kept = walks.get(key)
      const known = kept?.isTaken ? undefined : kept
      if (known && hasPage(partOf(known.walk), query)) return cut(partOf(known.walk), query)
      const told = asked.get(key)
      if (told && hasPage(told, query)) return cut(told, query)
      // It has been too far before, or it will be.
      if (!known && (told || end > MAX_OBJECTS)) return undefined
      if (known) known.isTaken = true
      const walk = known?.walk ?? createHistoryWalk(query.from, query.path)
      const reading = createReading(objects, { maxObjects: MAX_OBJECTS, signal })
      const isThere = await unlessLeftToGit(async () => {
        await walk.advance(reading, end)
        return true
      })
      if (!isThere) return undefined
      if (walk.size <= MAX_KEPT) walks.set(key, { walk, size: walk.size, isTaken: false })
      return cut(partOf(walk), query)
    },

    async ask(repo: OpenRepo, query: PageQuery): Promise<Page> {
      const { from, path, skip, limit } = query
      const ahead = path ? limit * PAGES_AHEAD : Math.max(limit, COMMITS_AHEAD)
      const listed = await listCommitOids(repo, { from, skip, limit: ahead + 1, ...(path && { path }) })
      const told = { offset: skip, listed, isOver: listed.length <= ahead }
      asked.set(keyOf(query), told)
      return cut(told, query)
    },
  }
}

const partOf = ({ listed, isOver }: HistoryWalk): Part => ({ offset: 0, listed, isOver })

const hasPage = ({ offset, listed, isOver }: Part, { skip, limit }: PageQuery): boolean =>
  skip >= offset && (isOver || offset + listed.length > skip + limit)

function cut({ offset, listed }: Part, { skip, limit }: PageQuery): Page {
  const start = skip - offset
  return { oids: listed.slice(start, start + limit), more: listed.length > start + limit }
}
