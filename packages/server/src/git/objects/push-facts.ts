// What is worth knowing about a push besides that it happened: asked once, when it is made, and kept in its event.

import { emptyTreeOid, type Oid } from '../names.ts'
import type { Repo } from '../process/command.ts'
import type { ObjectType } from './format.ts'
import { countAheadBehind, mergeBases } from './history.ts'
import { type ObjectReader, withObjects } from './reader.ts'
import { diffTrees } from './tree-diff.ts'

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
  /** Tips of such updates that have everything below them if their `before` has, so that git need not look. */
  whole: Set<Oid>
}

/** Looks at what was pushed through one process, once it is `there`. Nothing of it needs to be. */
export async function describeUpdates<Update extends BranchUpdate>(
  repo: Repo,
  oids: readonly Oid[],
  updates: readonly Update[],
  there?: Promise<unknown>,
): Promise<Described<Update>> {
  const distinct = [...new Set(oids)]
  const tips = new Map<Oid, Tip>()
  const facts = new Map<Update, UpdateFacts>()
  const whole = new Set<Oid>()
  if (distinct.length === 0) return { tips, facts, whole }
  await withObjects(repo, async (objects) => {
    await there
    const infos = await objects.listInfo(distinct)
    for (const [i, oid] of distinct.entries()) {
      const info = infos[i]
      if (!info) continue
      const target = info.type === 'tag' ? await objects.peel(oid) : undefined
      if (info.type !== 'tag' || target) tips.set(oid, { type: info.type, peeled: target?.oid ?? null })
    }
    for (const update of updates) {
      // Whatever is odd about it, git will tell.
      const read = await readStraightMove(objects, update).catch(() => undefined)
      if (!read) continue
      facts.set(update, read.facts)
      if (read.isWhole) whole.add(update.after)
    }
  })
  return { tips, facts, whole }
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

/**
 * A branch that moved straight ahead by a few commits, with few directories changed. Each commit is held against its
 * parent: it has everything when whatever it has that its parent has not is there.
 */
async function readStraightMove(
  objects: ObjectReader,
  { before, after }: BranchUpdate,
): Promise<{ facts: UpdateFacts; isWhole: boolean } | undefined> {
  const start = before && (await objects.findCommit(before))
  if (!start) return undefined
  /** From the tip down to where the branch was. */
  const trees: Oid[] = []
  for (let oid = after; oid !== before; ) {
    const commit = await objects.findCommit(oid)
    const [parent, ...others] = commit?.parents ?? []
    if (!commit || !parent || others.length > 0 || trees.length === maxStraightCommits) return undefined
    trees.push(commit.tree)
    oid = parent
  }
  const [tip] = trees
  const all = tip && (await diffTrees(objects, start.tree, tip, maxTreesRead))
  if (!all || all.paths.length > defaultMaxPaths) return undefined
  const blobs = new Set(trees.length === 1 ? all.blobs : [])
  if (trees.length > 1)
    for (const [i, tree] of trees.entries()) {
      const step = await diffTrees(objects, trees[i + 1] ?? start.tree, tree, maxTreesRead)
      if (!step) return undefined
      for (const blob of step.blobs) blobs.add(blob)
    }
  const found = await objects.listInfo([...blobs])
  return {
    facts: { fastForward: true, commitCount: trees.length, changedPaths: all.paths, pathsTruncated: false },
    isWhole: found.every((info) => info?.type === 'blob'),
  }
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
