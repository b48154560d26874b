// Merges two commits on the server. New objects go into one pack.

import type { Dirent } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { createPauses } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import { formatCommit, type GitPerson, type ObjectType } from './format.ts'
import { findMergeBases } from './history.ts'
import { splitNul } from './nul-fields.ts'
import { createObjectSet, formatPack, type ObjectSet, type PackBytes, writePack } from './pack-writer.ts'
import { withObjects } from './reader.ts'

export interface MergeRequest {
  /** What is merged into; the first parent. */
  ours: Oid
  theirs: Oid
  /** A merge commit in any case; a fast-forward where one will do; or one commit with all of their changes. */
  strategy: 'merge' | 'fast-forward' | 'squash'
  author: GitPerson
  committer: GitPerson
  message: string
  maxConflicts?: number
}

const MAX_CONFLICTS = 1000

type MergeResult =
  /** Ours has everything already. */
  | { outcome: 'up-to-date' }
  | { outcome: 'fast-forward'; commit: Oid }
  | { outcome: 'merged'; commit: Oid; pack: PackBytes }
  | { outcome: 'conflict'; conflicts: Conflict[]; truncated: boolean }
  /** The two share no history. */
  | { outcome: 'unrelated' }

interface Conflict {
  path: string
  /** Git's words, such as `contents` or `modify/delete`. */
  kinds: string[]
}

/** `objectsDir` is a quarantine. What was made is there too, so that git can be asked about it. */
export async function mergeCommits(
  repo: OpenRepo,
  objectsDir: string,
  request: MergeRequest,
): Promise<MergeResult> {
  const { ours, theirs, strategy, maxConflicts } = request
  const bases = await findMergeBases(repo, ours, theirs)
  if (bases.length === 0) return { outcome: 'unrelated' }
  if (bases.includes(theirs)) return { outcome: 'up-to-date' }
  if (bases.includes(ours) && strategy === 'fast-forward') return { outcome: 'fast-forward', commit: theirs }

  const merged = await mergeTrees(repo, objectsDir, { ours, theirs, ...(maxConflicts && { maxConflicts }) })
  if ('conflicts' in merged) return { outcome: 'conflict', ...merged }
  const { tree } = merged
  if (strategy === 'squash' && tree === (await treeOf(repo, ours))) return { outcome: 'up-to-date' }
  return commitMerge(objectsDir, tree, request)
}

type MergedTrees = { tree: Oid } | { conflicts: Conflict[]; truncated: boolean }

/** What the two come to; the objects of it are written to `objectsDir`. */
export async function mergeTrees(
  repo: OpenRepo,
  objectsDir: string,
  { ours, theirs, maxConflicts = MAX_CONFLICTS }: { ours: Oid; theirs: Oid; maxConflicts?: number },
): Promise<MergedTrees> {
  await mkdir(objectsDir, { recursive: true })
  const inQuarantine = repo.with({ quarantine: { objectsDir } })
  const { exitCode, stdout } = await inQuarantine.run({
    verb: 'merge-tree',
    options: ['--write-tree', '--messages', '-z'],
    values: [ours, theirs],
    // Larger files are not merged line by line; they conflict when both sides changed them.
    config: { 'core.bigFileThreshold': '16m', 'merge.renameLimit': '2000' },
    accept: [0, 1],
    maxBytes: 64 * 1024 * 1024,
  })
  const fields = splitNul(stdout)
  const tree = (fields.next().value?.toString('latin1') ?? '') as Oid
  return exitCode === 0 ? { tree } : readConflicts(fields, maxConflicts)
}

async function commitMerge(objectsDir: string, tree: Oid, request: MergeRequest): Promise<MergeResult> {
  const { ours, theirs, strategy, author, committer, message } = request
  const objects = createObjectSet()
  await addLooseObjects(objectsDir, objects)
  const parents = strategy === 'squash' ? [ours] : [ours, theirs]
  const commit = objects.add('commit', formatCommit({ tree, parents, author, committer, message }))
  const pack = await formatPack(objects)
  await writePack(objectsDir, pack)
  return { outcome: 'merged', commit, pack }
}

/**
 * After the tree, `mode oid stage\tpath` for each conflicted stage, an empty field, and messages of the form
 * count, that many paths, kind, text. Every field ends with NUL. There may be megabytes of them, of which the first
 * conflicts are kept, and others get their turn in between.
 */
async function readConflicts(
  fields: Iterator<Buffer, undefined>,
  max: number,
): Promise<{ conflicts: Conflict[]; truncated: boolean }> {
  const next = () => fields.next().value
  const conflicts = new Map<string, Conflict>()
  const pause = createPauses()
  let truncated = false
  const at = (raw: Buffer): Conflict | undefined => {
    const key = raw.toString('latin1')
    const known = conflicts.get(key)
    if (known) return known
    if (conflicts.size === max) truncated = true
    else conflicts.set(key, { path: raw.toString('utf8'), kinds: [] })
    return conflicts.get(key)
  }
  for (let field = next(); field && field.length > 0; field = next()) {
    at(field.subarray(field.indexOf(0x09) + 1))
    await pause()
  }
  for (let count = next(); count; count = next()) {
    const paths = Array.from({ length: Number(count) }, next)
    const kind = /^CONFLICT \((.*)\)$/.exec(next()?.toString('utf8') ?? '')?.[1]
    next()
    for (const path of paths) if (kind && path) at(path)?.kinds.push(kind)
    await pause()
  }
  return { conflicts: [...conflicts.values()], truncated }
}

const inflated = promisify(inflate)

/** What merge-tree wrote: files of two and thirty-eight hex digits, each a deflated header and content. */
async function addLooseObjects(objectsDir: string, objects: ObjectSet): Promise<void> {
  const isFolder = (entry: Dirent) => entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name)
  const folders = (await readdir(objectsDir, { withFileTypes: true })).filter(isFolder)
  for (const folder of folders) {
    for (const file of await readdir(join(objectsDir, folder.name))) {
      const bytes = await inflated(await readFile(join(objectsDir, folder.name, file)))
      const header = bytes.indexOf(0)
      const [type] = bytes.toString('latin1', 0, header).split(' ')
      objects.add(type as ObjectType, bytes.subarray(header + 1))
    }
  }
}

async function treeOf(repo: OpenRepo, commit: Oid): Promise<Oid | undefined> {
  return withObjects(repo, async (objects) => (await objects.findCommit(commit))?.tree)
}
