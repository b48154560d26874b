// How two commits differ, and which commits lie between them: found in objects as far as possible, the rest by git.

import type { Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import {
  addPatches,
  type Diff,
  type DiffLimits,
  type FileChange,
  type FilePatch,
  listChangedFiles,
} from './diff.ts'
import {
  countAheadBehind,
  findMergeBases,
  type ListedCommit,
  listCommitOids,
  readCommits,
} from './history.ts'
import { type ObjectReader, withObjects } from './reader.ts'
import { findChangedFiles } from './tree-changes.ts'
import { createWalks } from './walk/walks.ts'

const MAX_COMMITS = 100

interface CompareRequest extends DiffLimits {
  base: Oid
  head: Oid
  /** 'three-dot' (default) shows what head did since it left base; 'two-dot' compares the two as they are. */
  mode?: 'two-dot' | 'three-dot'
  /** Newest first. */
  maxCommits?: number
}

/** Which commits lie between two. */
interface Relation {
  /** Undefined when the two share no history; then three-dot shows what two-dot shows. */
  mergeBase: Oid | undefined
  ahead: number
  behind: number
  commits: ListedCommit[]
  moreCommits: boolean
}

interface Comparison extends Relation, Diff<FilePatch> {}

/** What is known of a comparison without asking git. */
interface Known {
  relation?: Relation | undefined
  changes?: Diff<FileChange> | undefined
}

/** Finds what can be found in objects alone. */
export async function compareObjects(
  objects: ObjectReader,
  request: CompareRequest,
  signal?: AbortSignal,
): Promise<Known> {
  const { base, head, maxCommits = MAX_COMMITS } = request
  const walks = createWalks(objects, signal)
  const bases = await walks.findMergeBases(base, head)
  const counts = bases && (await walks.countAheadBehind(base, head))
  const oids = counts && (await walks.listBetween(base, head))
  if (!oids) return {}
  const { commits, read } = await readCommits(objects, oids.slice(0, maxCommits))
  const relation = { mergeBase: bases[0], ...counts, commits, moreCommits: oids.length > read }
  return { relation, changes: await findChangedFiles(objects, startOf(request, relation), head, signal) }
}

/** Undefined when git is to be asked for more. */
export function completeComparison(
  { maxTotalBytes }: CompareRequest,
  { relation, changes }: Known,
): Comparison | undefined {
  const isComplete = changes && (changes.files.length === 0 || maxTotalBytes === 0)
  return relation && isComplete ? { ...relation, ...changes } : undefined
}

async function askRelation(
  repo: OpenRepo,
  { base, head, maxCommits = MAX_COMMITS }: CompareRequest,
): Promise<Relation> {
  const [mergeBase] = await findMergeBases(repo, base, head)
  const [counts, oids] = await Promise.all([
    countAheadBehind(repo, base, head),
    listCommitOids(repo, { from: head, notIn: base, limit: maxCommits + 1 }),
  ])
  const { commits, read } = await withObjects(repo, (objects) =>
    readCommits(objects, oids.slice(0, maxCommits)),
  )
  return { mergeBase, ...counts, commits, moreCommits: oids.length > read }
}

/** How two commits differ, and which commits lie between them; git is asked for what is not known. */
export async function compareCommits(
  repo: OpenRepo,
  request: CompareRequest,
  known: Known = {},
): Promise<Comparison> {
  const relation = known.relation ?? (await askRelation(repo, request))
  const from = startOf(request, relation)
  const changes = known.changes ?? (await listChangedFiles(repo, from, request.head, request))
  return {
    ...relation,
    ...changes,
    files: await addPatches(repo, from, request.head, { ...request, ...changes }),
  }
}

/** What head is held against. */
const startOf = ({ base, mode = 'three-dot' }: CompareRequest, { mergeBase }: Relation): Oid =>
  mode === 'three-dot' ? (mergeBase ?? base) : base
