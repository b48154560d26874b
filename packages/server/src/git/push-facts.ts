// What is worth knowing about a push besides that it happened: asked once, when it is made, and kept in its event.

import type { Repo } from './command.ts'
import { countAheadBehind, mergeBases } from './history.ts'
import { emptyTreeOid, type Oid } from './names.ts'
import type { ObjectType } from './object-format.ts'
import { type ObjectReader, withObjects } from './objects.ts'
import { findChangedPaths } from './tree-diff.ts'

export type Tip = {
  type: ObjectType
  /** What an annotated tag finally points to, null for everything else. */
  peeled: Oid | null
}

/** What each id is. An id that is missing, or a tag of something missing, has no entry. */
export async function describeTips(repo: Repo, oids: readonly Oid[]): Promise<Map<Oid, Tip>> {
  return (await describeUpdates(repo, oids, [])).tips
}

export type Described<Update> = {
  tips: Map<Oid, Tip>
  /** For updates that are easily understood, as most are. The others are for `gatherFacts`. */
  facts: Map<Update, UpdateFacts>
}

/** Looks at what was pushed through one process. Nothing needs to be there. */
export async function describeUpdates<Update extends BranchUpdate>(
  repo: Repo,
  oids: readonly Oid[],
  updates: readonly Update[],
): Promise<Described<Update>> {
  const distinct = [...new Set(oids)]
  const tips = new Map<Oid, Tip>()
  const facts = new Map<Update, UpdateFacts>()
  if (distinct.length === 0) return { tips, facts }
  await withObjects(repo, async (objects) => {
    const infos = await objects.listInfo(distinct)
    for (const [i, oid] of distinct.entries()) {
      const info = infos[i]
      if (!info) continue
      const target = info.type === 'tag' ? await objects.peel(oid) : undefined
      if (info.type !== 'tag' || target) tips.set(oid, { type: info.type, peeled: target?.oid ?? null })
    }
    for (const update of updates) {
      // Whatever is odd about it, git will tell.
      const read = await readFacts(objects, update).catch(() => undefined)
      if (read) facts.set(update, read)
    }
  })
  return { tips, facts }
}

/** A branch that is created (no `before`) or moved. Both are commits that are there. */
export type BranchUpdate = { before: Oid | null; after: Oid }

export type UpdateFacts = {
  /** True for a new branch too. */
  fastForward: boolean
  /** Commits that the branch gained; for a new one, those that no other ref had. */
  commitCount: number
  /** Against the old tip; for a new branch against where it left `base`, or against nothing. */
  changedPaths: string[]
  pathsTruncated: boolean
}

export type FactsOptions = { base?: Oid | null; maxPaths?: number }

const maxStraightCommits = 20
const maxTreesRead = 100
const defaultMaxPaths = 1000

/** A branch that moved straight ahead by a few commits, with few directories changed. */
async function readFacts(
  objects: ObjectReader,
  { before, after }: BranchUpdate,
): Promise<UpdateFacts | undefined> {
  if (!before) return undefined
  const [start, end] = await Promise.all([objects.findCommit(before), objects.findCommit(after)])
  if (!start || !end) return undefined
  let commitCount = 1
  for (let commit = end; ; commitCount++) {
    const [parent, ...others] = commit.parents
    if (!parent || others.length > 0 || commitCount > maxStraightCommits) return undefined
    if (parent === before) break
    const next = await objects.findCommit(parent)
    if (!next) return undefined
    commit = next
  }
  const changedPaths = await findChangedPaths(objects, start.tree, end.tree, maxTreesRead)
  if (!changedPaths || changedPaths.length > defaultMaxPaths) return undefined
  return { fastForward: true, commitCount, changedPaths, pathsTruncated: false }
}

/** Refs must still be as they were before the push. */
export async function gatherFacts(
  repo: Repo,
  { before, after }: BranchUpdate,
  { base = null, maxPaths = defaultMaxPaths }: FactsOptions = {},
): Promise<UpdateFacts> {
  const start = before ?? (base && (await mergeBases(repo, base, after))[0]) ?? emptyTreeOid
  const [counted, changed] = await Promise.all([
    before ? countAheadBehind(repo, before, after) : { ahead: await countNew(repo, after), behind: 0 },
    listChangedPaths(repo, start, after, maxPaths),
  ])
  return { fastForward: counted.behind === 0, commitCount: counted.ahead, ...changed }
}

async function countNew(repo: Repo, after: Oid): Promise<number> {
  const { stdout } = await repo.run({
    verb: 'rev-list',
    options: ['--count', '--stdin', '--not', '--all'],
    stdin: `${after}\n`,
  })
  return Number(stdout.toString())
}

const maxPathBytes = 1024 * 1024

async function listChangedPaths(repo: Repo, from: Oid, to: Oid, maxPaths: number) {
  const { stdout, truncated } = await repo.run({
    verb: 'diff-tree',
    options: ['-r', '-z', '--name-only', '--no-renames'],
    values: [from, to],
    maxBytes: maxPathBytes,
    truncate: true,
  })
  // Each path ends with a NUL; after the last one comes nothing, or a path that was cut.
  const paths = stdout.toString('utf8').split('\0').slice(0, -1)
  return { changedPaths: paths.slice(0, maxPaths), pathsTruncated: truncated || paths.length > maxPaths }
}
