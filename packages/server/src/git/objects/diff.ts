// What differs between two commits: files, counts and patches, all bounded.

import type { Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import { countAheadBehind, findMergeBases, type ListedCommit, listCommits } from './history.ts'
import { splitNul } from './nul-fields.ts'
import { diffConfig, readPatches } from './patches.ts'

type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'type-changed'

interface FileChange {
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

interface Diff<File> {
  files: File[]
  /** More files changed than are listed. */
  truncated: boolean
  /** Over all files, listed or not. */
  total: { files: number; additions: number; deletions: number }
}

interface DiffLimits {
  maxFiles?: number
  maxPatchBytes?: number
  maxTotalBytes?: number
}

interface CompareRequest extends DiffLimits {
  base: Oid
  head: Oid
  /** 'three-dot' (default) shows what head did since it left base; 'two-dot' compares the two as they are. */
  mode?: 'two-dot' | 'three-dot'
  /** Newest first. Default 100. */
  maxCommits?: number
}

interface Comparison extends Diff<FilePatch> {
  /** Undefined when the two share no history; then three-dot shows what two-dot shows. */
  mergeBase: Oid | undefined
  ahead: number
  behind: number
  commits: ListedCommit[]
  moreCommits: boolean
}

/** How two commits differ, and which commits lie between them. */
export async function compareCommits(repo: OpenRepo, request: CompareRequest): Promise<Comparison> {
  const { base, head, mode = 'three-dot', maxCommits = 100 } = request
  const [mergeBase] = await findMergeBases(repo, base, head)
  const from = mode === 'three-dot' ? (mergeBase ?? base) : base
  const [counts, listed, changes] = await Promise.all([
    countAheadBehind(repo, base, head),
    listCommits(repo, { from: head, notIn: base, limit: maxCommits }),
    diff(repo, from, head, request),
  ])
  return { mergeBase, ...counts, commits: listed.commits, moreCommits: listed.more, ...changes }
}

async function diff(repo: OpenRepo, from: Oid, to: Oid, limits: DiffLimits = {}): Promise<Diff<FilePatch>> {
  const { maxPatchBytes = 256 * 1024, maxTotalBytes = 4 * 1024 * 1024 } = limits
  const changes = await listChangedFiles(repo, from, to, limits)
  if (changes.files.length === 0) return { ...changes, files: [] }
  const patches = await readPatches(repo, from, to, {
    // A change of type is shown as a deletion and a creation.
    sections: changes.files.map(({ status }) => (status === 'type-changed' ? 2 : 1)),
    maxPatchBytes,
    maxTotalBytes,
  })
  const files = changes.files.map((file, i) => {
    const patch = patches[i]
    return patch === undefined ? file : { ...file, patch }
  })
  return { ...changes, files }
}

/** Files only, in the order of their paths. */
async function listChangedFiles(
  repo: OpenRepo,
  from: Oid,
  to: Oid,
  { maxFiles = 300 }: { maxFiles?: number } = {},
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
    ],
    values: [from, to],
    config: diffConfig,
    maxBytes: 32 * 1024 * 1024,
    truncate: true,
  })
  // The last entry of a cut answer may be cut itself.
  const all = parseChanges(stdout).slice(0, truncated ? -1 : undefined)
  const sum = (of: (file: FileChange) => number) => all.reduce((total, file) => total + of(file), 0)
  return {
    files: all.slice(0, maxFiles),
    truncated: truncated || all.length > maxFiles,
    total: {
      files: all.length,
      additions: sum((file) => file.additions),
      deletions: sum((file) => file.deletions),
    },
  }
}

const statuses: Record<string, FileStatus> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  T: 'type-changed',
}

/**
 * First all raw entries, `:modes ids status` and one or two paths; then all counts, in the same order,
 * `additions<TAB>deletions<TAB>path`, where a rename has an empty path and two fields more.
 */
function parseChanges(output: Buffer): FileChange[] {
  const fields = splitNul(output)
  const next = () => fields.next().value ?? Buffer.alloc(0)
  const files: FileChange[] = []
  let counted = 0
  for (const field of fields) {
    if (field[0] === 0x3a) {
      files.push(parseRaw(field.toString('latin1', 1), next))
      continue
    }
    const [, additions, deletions, path] = /^(.*?)\t(.*?)\t(.*)$/s.exec(field.toString('latin1')) ?? []
    if (path === '') {
      next()
      next()
    }
    const file = files[counted++]
    if (!file) continue
    file.binary = additions === '-'
    file.additions = Number(additions) || 0
    file.deletions = Number(deletions) || 0
  }
  return files
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
