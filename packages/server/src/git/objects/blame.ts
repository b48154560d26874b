// Which commit each line of a file comes from, as git says it.

import { type Oid, parseOid, type TreePath } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'

/** Lines that follow each other and came in one piece. */
export interface BlamedRange {
  startLine: number
  endLine: number
  commit: Oid
  /** Where they were when they came. */
  originalPath: string
  originalLine: number
}

interface BlameQuery {
  commit: Oid
  path: TreePath
  startLine: number
  endLine: number
}

/** In the order of the lines. The file must have them. */
export async function blameLines(
  repo: OpenRepo,
  { commit, path, startLine, endLine }: BlameQuery,
): Promise<BlamedRange[]> {
  const { stdout } = await repo.run({
    verb: 'blame',
    options: ['--incremental', `-L${startLine},${endLine}`],
    values: [commit],
    paths: [path],
    config: { 'core.quotePath': 'false' },
    // How far it has to go back nobody knows before.
    work: 'compare',
  })
  return parseIncremental(stdout).sort((a, b) => a.startLine - b.startLine)
}

/** For each range `commit original final count`, some lines of which only the first commit has all, and `filename path`. */
function parseIncremental(output: Buffer): BlamedRange[] {
  const ranges: BlamedRange[] = []
  let range: Omit<BlamedRange, 'originalPath'> | undefined
  for (const line of output.toString('utf8').split('\n')) {
    const [, oid = '', original, final, count] = /^([0-9a-f]{40}) (\d+) (\d+) (\d+)$/.exec(line) ?? []
    const commit = parseOid(oid)
    if (commit) {
      const startLine = Number(final)
      const endLine = startLine + Number(count) - 1
      range = { startLine, endLine, commit, originalLine: Number(original) }
    } else if (range && line.startsWith(FILENAME)) {
      ranges.push({ ...range, originalPath: unquoted(line.slice(FILENAME.length)) })
      range = undefined
    }
  }
  return ranges
}

const FILENAME = 'filename '
const ESCAPES: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** A name with characters of control, quotes or backslashes is written as in C. */
function unquoted(name: string): string {
  if (!name.startsWith('"')) return name
  return name
    .slice(1, -1)
    .replace(/\\(?:([0-7]{3})|(.))/g, (_, octal: string | undefined, letter: string) =>
      octal ? String.fromCharCode(Number.parseInt(octal, 8)) : (ESCAPES[letter] ?? letter),
    )
}
