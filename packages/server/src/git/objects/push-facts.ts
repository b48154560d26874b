// What is worth knowing about a push besides that it happened: asked once, when it is made, and kept in its event.

import { allDone } from '../../platform/all-done.ts'
import { EMPTY_TREE_OID, type Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import { type ChangedPaths, listChangedPaths, listPathsOfTrees } from './changed-paths.ts'
import type { Commit, ObjectType } from './format.ts'
import { countAheadBehind, findMergeBases } from './history.ts'
import { countNewCommits } from './new-commits.ts'
import { type ObjectReader, withObjects } from './reader.ts'
import { diffTrees, type EntriesLeft } from './tree-diff.ts'

/** What a ref is, or shall be, at. */
interface TipInfo {
  type: ObjectType
  /** What an annotated tag finally points to, null for everything else. */
  peeled: Oid | null
}

/** What each id is. An id that is missing, or a tag of something missing, has no entry. */
export async function describeTips(objects: TipReader, oids: readonly Oid[]): Promise<Map<Oid, TipInfo>> {
  const distinct = [...new Set(oids)]
  const tips = new Map<Oid, TipInfo>()
  const infos = await objects.listInfo(distinct)
  for (const [i, oid] of distinct.entries()) {
    const info = infos[i]
    if (!info) continue
    const target = info.type === 'tag' ? await objects.peel(oid) : undefined
    if (info.type !== 'tag' || target) tips.set(oid, { type: info.type, peeled: target?.oid ?? null })
  }
  return tips
}

export interface Described<Update> {
  tips: Map<Oid, TipInfo>
  /** For updates that are easily understood, as most are. The others are for `gatherFacts`. */
  facts: Map<Update, UpdateFacts>
  /** Tips of such updates that have everything below them if their `before` has, so that git need not look. */
  whole: Set<Oid>
  /** The trees of the other updates' tips. */
  trees: Map<Oid, Oid>
}

interface Asked<Update> {
  oids: readonly Oid[]
  updates: readonly Update[]
  surroundings: Surroundings
}

/** What new branches are held against. */
interface Surroundings {
  /** The tip of the default branch. */
  base: Oid | null
  /** Whether no ref leads to this commit, if that is known. */
  isNew(commit: Oid): boolean
  /** Whether a history that comes to this commit, or to its first one and so to null, left that of the base there. */
  leftBaseAt?(commit: Oid | null): Promise<boolean>
}

const NOTHING_KNOWN: Surroundings = { base: null, isNew: () => false }

/** What it takes to describe updates. */
export type TipReader = Pick<ObjectReader, 'listInfo' | 'findCommit' | 'findTree' | 'peel'>

/**
 * Looks at what was pushed through one process, once it is `there`. Nothing of it needs to be. The process is started
 * then and not before: to take a pack may last longer than one that only looks may live.
 */
export async function describeUpdatesIn<Update extends BranchUpdate>(
  repo: OpenRepo,
  { there, ...asked }: Asked<Update> & { there?: Promise<unknown> | undefined },
): Promise<Described<Update>> {
  if (asked.oids.length === 0)
    return { tips: new Map(), facts: new Map(), whole: new Set(), trees: new Map() }
  await there
  return withObjects(repo, (objects) => describeUpdates(objects, asked))
}

/** Nothing of it needs to be there. */
export async function describeUpdates<Update extends BranchUpdate>(
  objects: TipReader,
  { oids, updates, surroundings }: Asked<Update>,
): Promise<Described<Update>> {
  const facts = new Map<Update, UpdateFacts>()
  const whole = new Set<Oid>()
  const trees = new Map<Oid, Oid>()
  const tips = await describeTips(objects, oids)
  const left: EntriesLeft = { entries: MAX_ENTRIES_READ }
  // Where nothing is there yet and one branch has a long history, others have too: to find that out for each takes long.
  let hasLong = false
  // Of branches that move in the same way the same is to be said.
  for (const alike of Map.groupBy(updates, wayOf).values()) {
    const [update] = alike as [Update]
    const isNew = !update.before
    // Whatever is odd about it, git will tell.
    const move: Reading =
      hasLong && isNew ? LONG : await readStraightMove(objects, update, surroundings, left).catch(() => ODD)
    if (move === LONG || move === ODD) {
      hasLong ||= isNew && surroundings.base === null && move === LONG
      const tip = await objects.findCommit(update.after).catch(() => undefined)
      if (tip) trees.set(update.after, tip.tree)
      continue
    }
    for (const each of alike) facts.set(each, move.facts)
    if (await isWhole(objects, move, left).catch(() => false)) whole.add(update.after)
  }
  return { tips, facts, whole, trees }
}

export const wayOf = ({ before, after }: BranchUpdate): string => `${before} ${after}`

/** A branch that is created (no `before`) or moved. Both are commits that are there. */
export interface BranchUpdate {
  before: Oid | null
  after: Oid
}

/**
 * What the event of a push says about a branch. Paths are those that differ from the old tip; for a new branch from where
 * it left `base`, or from nothing.
 */
export interface UpdateFacts extends ChangedPaths {
  /** True for a new branch too. */
  fastForward: boolean
  /** Commits that the branch gained; for a new one, those that no other ref had. */
  commitCount: number
}

interface FactsOptions {
  base?: Oid | null
  /** What somebody has found out for several. */
  known?: SharedFacts | undefined
  maxPaths?: number
}

/** What is cheaper to find out for several new branches at once than for each. */
interface SharedFacts {
  /** How many commits each has that no ref had. */
  counts: ReadonlyMap<Oid, number>
  /** What is at its tip. */
  paths: ReadonlyMap<Oid, ChangedPaths>
}

/** What is left to git: too much of it, or not to be understood. */
const LONG = 'long'
const ODD = 'odd'
type Reading = StraightMove | typeof LONG | typeof ODD

const MAX_STRAIGHT_COMMITS = 20
const MAX_TREES_READ = 100
/** Of all that is said of one push: as much as takes a quarter of a second here. Git has a process of its own. */
const MAX_ENTRIES_READ = 200_000
const DEFAULT_MAX_PATHS = 1000

interface StraightMove {
  facts: UpdateFacts
  /** Of each commit, from the tip down to the one that it left, or to null where it left none. */
  trees: (Oid | null)[]
  /** What the tip has that was not there before. */
  blobs: Oid[]
}

/**
 * A branch that moved straight ahead by a few commits, with few directories changed, from where it was or from a little
 * before that; or a new one that is as far ahead of where it left the default branch, or of nothing.
 */
async function readStraightMove(
  objects: TipReader,
  update: BranchUpdate,
  surroundings: Surroundings,
  left: EntriesLeft,
): Promise<Reading> {
  const way = await readWay(objects, update, surroundings)
  if (way === LONG || way === ODD) return way
  const { trees, from, behind } = way
  const treeOf = async (oid: Oid) => (await objects.findCommit(oid))?.tree
  const fromTree = from === null ? null : await treeOf(from)
  const beforeTree = behind > 0 && update.before ? await treeOf(update.before) : fromTree
  if (fromTree === undefined || beforeTree === undefined) return ODD
  const tip = trees[0] ?? fromTree
  const changed = tip && (await readChanges(objects, { before: beforeTree, after: tip, left }))
  if (!changed) return ODD
  const facts = { fastForward: behind === 0, commitCount: trees.length, ...changed.facts }
  return { facts, trees: [...trees, fromTree], blobs: changed.blobs }
}

/** Commits one after the other, each the only parent of the one before. */
interface Way {
  /** Of each, from the tip down. */
  trees: Oid[]
  /** The commit below, which was there before; null where none was. */
  from: Oid | null
  /** How many commits the branch loses. */
  behind: number
}

async function readWay(
  objects: TipReader,
  { before, after }: BranchUpdate,
  { base, isNew, leftBaseAt }: Surroundings,
): Promise<Way | typeof LONG | typeof ODD> {
  const start = before ?? base
  const seen: (Oid | null)[] = []
  const trees: Oid[] = []
  const otherwise = async (reading: typeof LONG | typeof ODD) => {
    const back = before && (await findWayBack(objects, before, seen))
    return back
      ? { trees: trees.slice(0, seen.indexOf(back.to)), from: back.to, behind: back.count }
      : reading
  }
  let next: Oid | null = after
  while (next !== start) {
    if (!before && (next === null || !isNew(next))) {
      if (await leftBaseAt?.(next)) break
      return ODD
    }
    seen.push(next)
    if (trees.length === MAX_STRAIGHT_COMMITS) return otherwise(LONG)
    const commit: Commit | undefined = next ? await objects.findCommit(next) : undefined
    if (!commit || commit.parents.length > 1) return otherwise(ODD)
    trees.push(commit.tree)
    next = commit.parents[0] ?? null
  }
  return { trees, from: next, behind: 0 }
}

/** Down from where a branch was, to the first commit that was seen on the way to where it is now. */
async function findWayBack(
  objects: TipReader,
  before: Oid,
  seen: readonly (Oid | null)[],
): Promise<{ to: Oid; count: number } | undefined> {
  let next: Oid | undefined = before
  for (let count = 0; next && count <= MAX_STRAIGHT_COMMITS; count++) {
    if (seen.includes(next)) return { to: next, count }
    const commit: Commit | undefined = await objects.findCommit(next)
    if (!commit || commit.parents.length > 1) return undefined
    next = commit.parents[0]
  }
  return undefined
}

async function readChanges(objects: TipReader, asked: { before: Oid | null; after: Oid; left: EntriesLeft }) {
  const diff = await diffTrees(objects, { ...asked, maxTrees: MAX_TREES_READ })
  if (!diff || diff.paths.length > DEFAULT_MAX_PATHS) return undefined
  return { facts: { changedPaths: diff.paths, pathsTruncated: false }, blobs: diff.blobs }
}

/** Each commit is held against its parent: it has everything when whatever it has that its parent has not is there. */
async function isWhole(
  objects: TipReader,
  { trees, blobs }: StraightMove,
  left: EntriesLeft,
): Promise<boolean> {
  const needed = new Set(trees.length === 2 ? blobs : [])
  for (const [i, after] of trees.length > 2 ? trees.entries() : []) {
    const before = trees[i + 1]
    if (!after || before === undefined) continue
    const step = await diffTrees(objects, { before, after, maxTrees: MAX_TREES_READ, left })
    if (!step) return false
    for (const blob of step.blobs) needed.add(blob)
  }
  const found = await objects.listInfo([...needed])
  return found.every((info) => info?.type === 'blob')
}

/** What `gatherFacts` finds out of a branch that is there, from a few objects; undefined where only git can tell. */
export async function readFacts(
  objects: ObjectReader,
  update: BranchUpdate & { before: Oid },
): Promise<UpdateFacts | undefined> {
  const move = await readStraightMove(objects, update, NOTHING_KNOWN, { entries: MAX_ENTRIES_READ })
  return move === LONG || move === ODD ? undefined : move.facts
}

/** What there is to say of new branches with these tips, if nothing is there that they could be held against. */
export async function gatherShared(
  repo: OpenRepo,
  tips: readonly Oid[],
  trees: ReadonlyMap<Oid, Oid>,
): Promise<SharedFacts> {
  const roots = tips.flatMap((tip) => trees.get(tip) ?? [])
  // None goes on when this is over.
  const [counts, listed] = await allDone([
    countNewCommits(repo, tips),
    listPathsOfTrees(repo, roots, DEFAULT_MAX_PATHS),
  ])
  const paths = new Map<Oid, ChangedPaths>()
  for (const tip of tips) {
    const tree = trees.get(tip)
    const found = tree && listed.get(tree)
    if (found) paths.set(tip, found)
  }
  return { counts, paths }
}

/** Refs must still be as they were before the push. */
export async function gatherFacts(
  repo: OpenRepo,
  { before, after }: BranchUpdate,
  { base = null, known, maxPaths = DEFAULT_MAX_PATHS }: FactsOptions = {},
): Promise<UpdateFacts> {
  const start = before ?? (base && (await findMergeBases(repo, base, after))[0]) ?? EMPTY_TREE_OID
  const countNew = async () => ({
    ahead: known?.counts.get(after) ?? (await countNewCommits(repo, [after])).get(after) ?? 0,
    behind: 0,
  })
  const listed = start === EMPTY_TREE_OID ? known?.paths.get(after) : undefined
  // None goes on when this is over.
  const [counted, changed] = await allDone([
    before ? countAheadBehind(repo, before, after) : countNew(),
    listed ?? listChangedPaths(repo, { from: start, to: after, maxPaths }),
  ])
  return { fastForward: counted.behind === 0, commitCount: counted.ahead, ...changed }
}
