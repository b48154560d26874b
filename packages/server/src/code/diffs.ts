import type { Caller } from '../access/caller.ts'
import { EMPTY_TREE_OID, type Oid, parseOid } from '../git/names.ts'
import { type Diff, type FileChange, type FilePatch, listChangedFiles } from '../git/objects/diff.ts'
import { findMergeBases } from '../git/objects/history.ts'
import { ObjectMissing, type ObjectReader } from '../git/objects/reader.ts'
import { addSomePatches } from '../git/objects/some-patches.ts'
import { findChangedFiles } from '../git/objects/tree-changes.ts'
import { createWalks } from '../git/objects/walk/walks.ts'
import type { OpenRepo } from '../git/process/command.ts'
import { textCursor } from '../platform/cursors.ts'
import { createRecent } from '../platform/recent.ts'
import type { RepoRow } from '../repos/service.ts'
import { type BrowsingDeps, type Paged, presentChange, requirePath } from './browsing.ts'
import { directoryName } from './repositories.ts'
import { weighChanges } from './weights.ts'

interface DiffInput extends Paged {
  name: string
  head: string
  base?: string | undefined
  mode: 'two-dot' | 'three-dot'
  path?: string | undefined
  context: number
  ignoreWhitespace: boolean
  patches: boolean
}

/** Two commits, or nothing and one. */
interface Ends {
  from: Oid
  to: Oid
}

/** All that git can be made to list; what is in memory of it is bounded below. */
const MAX_FILES = 100_000
/** Of patches, in a page and of one file in it. */
const PAGE_BYTES = 2 * 1024 * 1024
const FILE_BYTES = 256 * 1024
const MAX_LISTS = 100
/** Of all lists that are kept. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024

export type DiffsService = ReturnType<typeof createDiffsService>

/** How commits differ, a page of files at a time. */
export function createDiffsService({ repos, repositories, revisions }: BrowsingDeps) {
  /** The next page is about the same. */
  const lists = createRecent<string, Diff<FileChange>>({
    maxEntries: MAX_LISTS,
    weight: { of: weighChanges, max: MAX_KEPT_BYTES },
  })

  /** What is held against what: a commit against its first parent, against what it left, or as was asked. */
  async function findEnds(repo: RepoRow, input: DiffInput, signal: AbortSignal): Promise<Ends> {
    const near = await repositories.withObjects(repo, signal, async (objects) => {
      const to = await revisions.commitIn(objects, repo, input.head)
      if (input.base === undefined) return { to, from: await firstParentOf(objects, to) }
      const from = await revisions.commitIn(objects, repo, input.base)
      if (input.mode === 'two-dot') return { to, from }
      const bases = await createWalks(objects, signal).findMergeBases(from, to)
      return bases ? { to, from: bases[0] ?? from } : { to, from, isFar: true }
    })
    const { from, to } = near
    if (!('isFar' in near)) return { from, to }
    const bases = await repositories.withGit(repo, signal, (opened) => findMergeBases(opened, from, to))
    return { from: bases[0] ?? from, to }
  }

  /** Undefined where a cursor is not one of ours: then it starts over. */
  async function findPlace(repo: RepoRow, cursor: string | undefined, signal: AbortSignal) {
    const place = readDiffPlace(cursor)
    if (!place) return undefined
    const oids = [place.to, ...(place.from === EMPTY_TREE_OID ? [] : [place.from])]
    const commits = await repositories.withObjects(repo, signal, (objects) =>
      Promise.all(oids.map((oid) => objects.findCommit(oid))),
    )
    return commits.every((commit) => commit) ? place : undefined
  }

  /** Undefined where git shall answer. */
  async function findFiles(
    repo: RepoRow,
    { from, to }: Ends,
    ignoreWhitespace: boolean,
    signal: AbortSignal,
  ) {
    const known = lists.get(keyOf(repo, { from, to }, ignoreWhitespace))
    if (known || ignoreWhitespace || from === EMPTY_TREE_OID) return known
    return repositories.withObjects(repo, signal, (objects) => findChangedFiles(objects, from, to, signal))
  }

  return {
    async read(caller: Caller, input: DiffInput, signal: AbortSignal) {
      const path = input.path === undefined ? undefined : requirePath(input.path)
      const repo = await repos.open(caller, input.name, 'repo:read')
      const { ignoreWhitespace, context, limit } = input
      const place = await findPlace(repo, input.cursor, signal)
      const { from, to } = place ?? (await findEnds(repo, input, signal))
      const offset = place?.offset ?? 0

      const choose = ({ files }: Diff<FileChange>) =>
        path ? files.filter((file) => file.path === path || file.from === path) : files
      const known = await findFiles(repo, { from, to }, ignoreWhitespace, signal)
      const isEnough = known && (!input.patches || choose(known).length <= offset)
      const ask = async (opened: OpenRepo): Promise<{ all: Diff<FileChange>; page: FilePatch[] }> => {
        const all =
          known ?? (await listChangedFiles(opened, from, to, { maxFiles: MAX_FILES, ignoreWhitespace }))
        const some = choose(all).slice(offset, offset + limit)
        if (!input.patches || some.length === 0) return { all, page: some }
        const bounds = { maxPatchBytes: path ? PAGE_BYTES : FILE_BYTES, maxTotalBytes: PAGE_BYTES }
        const wanted = { all: all.files, some, context, ignoreWhitespace, ...bounds }
        return { all, page: await addSomePatches(opened, from, to, wanted) }
      }
      const { all, page } = isEnough
        ? { all: known, page: choose(known).slice(offset, offset + limit) }
        : await repositories.withGit(repo, signal, ask)
      lists.set(keyOf(repo, { from, to }, ignoreWhitespace), all)
      const end = offset + page.length
      const hasMore = end < choose(all).length
      return {
        base: from === EMPTY_TREE_OID ? null : from,
        head: to,
        files: page.map(presentChange),
        nextCursor: hasMore ? writeDiffPlace({ from, to, offset: end }) : null,
        total: all.total,
        filesTruncated: all.truncated,
      }
    },
  }
}

async function firstParentOf(objects: ObjectReader, oid: Oid): Promise<Oid> {
  const commit = await objects.findCommit(oid)
  if (!commit) throw new ObjectMissing(oid)
  return commit.parents[0] ?? EMPTY_TREE_OID
}

const keyOf = (repo: RepoRow, { from, to }: Ends, ignoreWhitespace: boolean): string =>
  [directoryName(repo), from, to, ignoreWhitespace].join(' ')

/** Pages go on between the same commits, whatever the refs do in between. */
interface DiffPlace extends Ends {
  offset: number
}

const writeDiffPlace = ({ from, to, offset }: DiffPlace): string =>
  textCursor.encode(`${from}:${to}:${offset}`)

function readDiffPlace(cursor: string | undefined): DiffPlace | undefined {
  const [first = '', second = '', offset = ''] = textCursor.decode(cursor)?.split(':') ?? []
  const [from, to] = [parseOid(first), parseOid(second)]
  return from && to && /^\d{1,9}$/.test(offset) ? { from, to, offset: Number(offset) } : undefined
}
