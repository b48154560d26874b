// Which files differ between two commits, found in their trees.

import { createPauses } from '../../platform/pauses.ts'
import { EMPTY_TREE_OID, type Oid, ZERO_OID } from '../names.ts'
import type { Diff, FileChange } from './diff.ts'
import { countLines } from './line-counts.ts'
import { pairEntries, type RawEntry } from './raw-tree.ts'
import type { ObjectReader } from './reader.ts'
import { createReading, LeftToGit, type Reading, unlessLeftToGit } from './walk/reading.ts'

interface Changed {
  path: Buffer
  before: RawEntry | undefined
  after: RawEntry | undefined
}

const MAX_TREES = 1_000
const MAX_FILES = 300
/** Of all files that changed, before and after. */
const MAX_BYTES = 4 * 1024 * 1024
/** Comparing two such takes some ten milliseconds at worst. */
const MAX_BLOB_BYTES = 64 * 1024

/** In git's order. Undefined where git shall answer: for much, and where files may have been renamed. */
export async function findChangedFiles(
  objects: ObjectReader,
  from: Oid,
  to: Oid,
  signal?: AbortSignal,
): Promise<Diff<FileChange> | undefined> {
  return unlessLeftToGit(async () => {
    const reading = createReading(objects, { maxObjects: MAX_TREES, signal })
    const [before, after] = [await reading.links(from), await reading.links(to)]
    const changed = await listChanged(reading, before.tree, after.tree)
    const mayBeRenamed = changed.some(({ before }) => !before) && changed.some(({ after }) => !after)
    if (mayBeRenamed) throw new LeftToGit('files that came and files that went')
    const files: FileChange[] = []
    const texts = createTexts(objects)
    const pause = createPauses()
    for (const change of changed) {
      files.push(await describe(texts, change))
      await pause()
      signal?.throwIfAborted()
    }
    const sum = (of: (file: FileChange) => number) => files.reduce((total, file) => total + of(file), 0)
    const additions = sum((file) => file.additions)
    const deletions = sum((file) => file.deletions)
    return { files, truncated: false, total: { files: files.length, additions, deletions } }
  })
}

async function listChanged(reading: Reading, before: Oid, after: Oid): Promise<Changed[]> {
  const changed: Changed[] = []

  async function compare(old: Oid, now: Oid, folder: Buffer): Promise<void> {
    const [left, right] = [await reading.tree(old), await reading.tree(now)]
    for (const { was, is, any } of pairEntries(left, right)) {
      if (was?.oid === is?.oid && was?.mode === is?.mode) continue
      const path = Buffer.concat([folder, any.name])
      if (any.mode === '040000')
        await compare(was?.oid ?? EMPTY_TREE_OID, is?.oid ?? EMPTY_TREE_OID, Buffer.concat([path, SLASH]))
      else if (changed.push({ path, before: was, after: is }) > MAX_FILES)
        throw new LeftToGit('too many files')
    }
  }

  if (before !== after) await compare(before, after, Buffer.alloc(0))
  return changed
}

const SLASH = Buffer.from('/')

type Texts = (entry: RawEntry | undefined) => Promise<Buffer>

/** What git compares line by line. */
function createTexts(objects: ObjectReader): Texts {
  let left = MAX_BYTES
  return async (entry) => {
    if (!entry) return Buffer.alloc(0)
    if (entry.mode === '160000') return Buffer.from(`Subproject commit ${entry.oid}\n`)
    const bytes = await objects.findBlob(entry.oid, MAX_BLOB_BYTES)
    left -= bytes?.length ?? 0
    if (!bytes || left < 0) throw new LeftToGit('a file that is not there, or many large ones')
    return bytes
  }
}

async function describe(texts: Texts, { path, before, after }: Changed): Promise<FileChange> {
  const [old, now] = [await texts(before), await texts(after)]
  const binary = isBinary(old) || isBinary(now)
  const counts = binary || before?.oid === after?.oid ? { additions: 0, deletions: 0 } : countLines(old, now)
  if (!counts) throw new LeftToGit('a large change')
  return {
    path: path.toString('utf8'),
    status: statusOf(before, after),
    oldMode: before?.mode ?? NO_MODE,
    newMode: after?.mode ?? NO_MODE,
    oldOid: before?.oid ?? ZERO_OID,
    newOid: after?.oid ?? ZERO_OID,
    ...counts,
    binary,
  }
}

const NO_MODE = '000000'

function statusOf(before: RawEntry | undefined, after: RawEntry | undefined): FileChange['status'] {
  if (!before) return 'added'
  if (!after) return 'deleted'
  return before.mode.slice(0, 2) === after.mode.slice(0, 2) ? 'modified' : 'type-changed'
}

/** How far git looks for a zero. */
const LOOKED_AT = 8000

const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, LOOKED_AT).includes(0)
