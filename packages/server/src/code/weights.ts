import type { BlamedRange } from '../git/objects/blame.ts'
import type { Diff, FileChange } from '../git/objects/diff.ts'

// What answers take that are kept in memory, in bytes. A character may take two.

/** A range without its path. */
const RANGE_BYTES = 200
/** A file without its paths. */
const FILE_BYTES = 400

export const weighRanges = (ranges: readonly BlamedRange[]): number =>
  ranges.reduce((sum, { originalPath }) => sum + RANGE_BYTES + originalPath.length * 2, RANGE_BYTES)

export const weighChanges = ({ files }: Pick<Diff<FileChange>, 'files'>): number =>
  files.reduce((sum, { path, from = '' }) => sum + FILE_BYTES + (path.length + from.length) * 2, FILE_BYTES)
