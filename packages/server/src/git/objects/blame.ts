// Which commit each line of a file comes from, as git says it.

import type { Readable } from 'node:stream'
import { ownText } from '../../platform/own-text.ts'
import { type Oid, parseOid, type TreePath } from '../names.ts'
import { type OpenRepo, OutputTooLarge } from '../process/command.ts'

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

/** Of all that git says, most of which is about commits: the whole first line of each message, however long it is. */
const MAX_BYTES = 16 * 1024 * 1024
/** Of one line that is looked at: a path, as git writes it. */
const MAX_LINE_BYTES = 64 * 1024

/** In the order of the lines. The file must have them. */
export async function blameLines(
  repo: OpenRepo,
  { commit, path, startLine, endLine }: BlameQuery,
): Promise<BlamedRange[]> {
  await using process = await repo.start({
    verb: 'blame',
    options: ['--incremental', `-L${startLine},${endLine}`],
    values: [commit],
    paths: [path],
    config: { 'core.quotePath': 'false' },
    // How far it has to go back nobody knows before.
    work: 'compare',
  })
  const ranges = await readIncremental(process.stdout)
  await process.done
  return ranges.sort((a, b) => a.startLine - b.startLine)
}

/** For each range `commit original final count`, some lines of which only the first commit has all, and `filename path`. */
async function readIncremental(stream: Readable): Promise<BlamedRange[]> {
  const ranges: BlamedRange[] = []
  /** Most ranges come from a few paths. */
  const paths = new Map<string, string>()
  let range: Omit<BlamedRange, 'originalPath'> | undefined
  for await (const line of linesOf(stream)) {
    const [, oid = '', original, final, count] = /^([0-9a-f]{40}) (\d+) (\d+) (\d+)$/.exec(line) ?? []
    const commit = parseOid(ownText(oid))
    if (commit) {
      const startLine = Number(final)
      const endLine = startLine + Number(count) - 1
      range = { startLine, endLine, commit, originalLine: Number(original) }
    } else if (range && line.startsWith(FILENAME)) {
      const path = ownText(unquoted(line.slice(FILENAME.length)))
      const originalPath = paths.get(path) ?? path
      paths.set(path, originalPath)
      ranges.push({ ...range, originalPath })
      range = undefined
    }
  }
  return ranges
}

/** The lines, without those that are longer than any of use. */
async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let length = 0
  let all = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    all += chunk.length
    if (all > MAX_BYTES) throw new OutputTooLarge('blame', MAX_BYTES)
    for (let at = 0; at < chunk.length; ) {
      const newline = chunk.indexOf(0x0a, at)
      const part = chunk.subarray(at, newline < 0 ? chunk.length : newline)
      if (length <= MAX_LINE_BYTES) parts.push(part)
      length += part.length
      at += part.length + 1
      if (newline < 0) continue
      const line = Buffer.concat(parts)
      if (length <= MAX_LINE_BYTES) yield line.toString('utf8')
      else if (line.toString('latin1', 0, FILENAME.length) === FILENAME)
        throw new OutputTooLarge('blame', MAX_LINE_BYTES)
      parts = []
      length = 0
    }
  }
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
