// What differs between two commits, as git says it: files, counts and patches, all bounded.

import { createPauses } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import { splitNul } from './nul-fields.ts'
import { diffConfig, readPatches } from './patches.ts'

type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'type-changed'

export interface FileChange {
  path: string
  status: FileStatus
  /** Where a renamed file was. */
  from?: string
  oldMode: string
  newMode: string
  oldOid: Oid
  newOid: Oid
  additions: number
  deletions: number
  binary: boolean
}

export interface FilePatch extends FileChange {
  /** Unified diff with its header; absent when it is beyond a bound. */
  patch?: string
}

export interface Diff<File> {
  files: File[]
  /** More files changed than are listed. */
  truncated: boolean
  /** Over all files, listed or not. */
  total: { files: number; additions: number; deletions: number }
}

export interface DiffLimits {
  maxFiles?: number
  maxPatchBytes?: number
  maxTotalBytes?: number
}

/** Reads the patches of files that changed, as far as the bounds go. */
export async function addPatches(
  repo: OpenRepo,
  from: Oid,
  to: Oid,
  limits: DiffLimits & { files: readonly FileChange[] },
): Promise<FilePatch[]> {
  const { files, maxPatchBytes = 256 * 1024, maxTotalBytes = 4 * 1024 * 1024 } = limits
  if (files.length === 0 || maxTotalBytes === 0) return [...files]
  const patches = await readPatches(repo, from, to, {
    // A change of type is shown as a deletion and a creation.
    sections: files.map(({ status }) => (status === 'type-changed' ? 2 : 1)),
    maxPatchBytes,
    maxTotalBytes,
  })
  return files.map((file, i) => {
    const patch = patches[i]
    return patch === undefined ? file : { ...file, patch }
  })
}

/** Files only, in the order of their paths. */
export async function listChangedFiles(
  repo: OpenRepo,
  from: Oid,
  to: Oid,
  { maxFiles = 300, ignoreWhitespace = false }: { maxFiles?: number; ignoreWhitespace?: boolean } = {},
): Promise<Diff<FileChange>> {
  const { stdout, truncated } = await repo.run({
    verb: 'diff-tree',
    options: [
      '-r',
      '-z',
      '--raw',
      '--numstat',
      '--no-abbrev',
      '--find-renames',
      '--no-ext-diff',
      '--no-textconv',
      ignoreWhitespace && '--ignore-all-space',
    ],
    values: [from, to],
    config: diffConfig,
    maxBytes: 32 * 1024 * 1024,
    truncate: true,
  })
  // The last entry of a cut answer may be cut itself.
  const whole = truncated ? stdout.subarray(0, stdout.lastIndexOf(0) + 1) : stdout
  const { files, counted, listed, total } = await parseChanges(whole, truncated ? maxFiles + 1 : maxFiles)
  // What differs in blanks alone is not counted then, and has no patch.
  const isCounted = ignoreWhitespace && !truncated
  const different = isCounted ? files.filter((file) => counted.has(file)) : files
  const all = truncated ? different.slice(0, -1) : different
  const count = isCounted ? total.counted : Math.max(0, listed - (truncated ? 1 : 0))
  return {
    files: all,
    truncated: truncated || count > all.length,
    total: { files: count, additions: total.additions, deletions: total.deletions },
  }
}

const statuses: Record<string, FileStatus> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  T: 'type-changed',
}

interface Changes {
  /** The first ones. */
  files: FileChange[]
  /** Those of them that have counts. */
  counted: ReadonlySet<FileChange>
  /** How many there are. */
  listed: number
  /** Over all that have counts. */
  total: { counted: number; additions: number; deletions: number }
}

/**
 * First all raw entries, `:modes ids status` and one or two paths; then counts, in the same order but not of all,
 * `additions<TAB>deletions<TAB>path`, where a rename has an empty path and two fields more. There may be a hundred
 * thousand: others get their turn in between.
 */
async function parseChanges(output: Buffer, maxFiles: number): Promise<Changes> {
  const fields = splitNul(output)
  const next = () => fields.next().value ?? Buffer.alloc(0)
  const files: FileChange[] = []
  const counted = new Set<FileChange>()
  const total = { counted: 0, additions: 0, deletions: 0 }
  const pause = createPauses()
  let listed = 0
  let at = 0
  for (const field of fields) {
    await pause()
    if (field[0] === 0x3a) {
      const file = parseRaw(field.toString('latin1', 1), next)
      if (listed++ < maxFiles) files.push(file)
      continue
    }
    const tab = field.indexOf(0x09, field.indexOf(0x09) + 1)
    const [additions, deletions] = field.toString('latin1', 0, tab).split('\t')
    let path = field.subarray(tab + 1)
    if (path.length === 0) {
      next()
      path = next()
    }
    const counts = { additions: Number(additions) || 0, deletions: Number(deletions) || 0 }
    total.counted++
    total.additions += counts.additions
    total.deletions += counts.deletions
    const name = path.toString('utf8')
    while (at < files.length && files[at]?.path !== name) at++
    const file = files[at++]
    if (!file) continue
    counted.add(file)
    Object.assign(file, counts, { binary: additions === '-' })
  }
  return { files, counted, listed, total }
}

function parseRaw(entry: string, nextPath: () => Buffer): FileChange {
  const [oldMode = '', newMode = '', oldOid = '', newOid = '', letter = ''] = entry.split(' ')
  const status = statuses[letter.charAt(0)] ?? 'modified'
  const path = nextPath().toString('utf8')
  return {
    ...(status === 'renamed' ? { path: nextPath().toString('utf8'), from: path } : { path }),
    status,
    oldMode,
    newMode,
    oldOid: oldOid as Oid,
    newOid: newOid as Oid,
    additions: 0,
    deletions: 0,
    binary: false,
  }
}
