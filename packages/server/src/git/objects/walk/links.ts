import { type Oid, parseOid } from '../../names.ts'

/** What walking history takes of a commit. */
export interface Links {
  tree: Oid
  parents: Oid[]
  /** Of the committer, in seconds: git goes through history by it. */
  date: number
}

const TREE_LINE = 'tree '.length + 40 + 1
const PARENT_LINE = 'parent '.length + 40 + 1

/** Undefined for what is not written as git writes it: there one git sees something else than another. */
export function parseLinks(bytes: Buffer): Links | undefined {
  const tree = oidLine(bytes, 0, 'tree ')
  if (!tree) return undefined
  const parents: Oid[] = []
  let at = TREE_LINE
  for (let parent = oidLine(bytes, at, 'parent '); parent; parent = oidLine(bytes, at, 'parent ')) {
    parents.push(parent)
    at += PARENT_LINE
  }
  const authorEnd = bytes.indexOf(0x0a, at)
  const committerEnd = bytes.indexOf(0x0a, authorEnd + 1)
  if (authorEnd < 0 || committerEnd < 0 || committerEnd + 1 === bytes.length) return undefined
  const date = parseDate(bytes.toString('latin1', at, committerEnd))
  return date === undefined ? undefined : { tree, parents, date }
}

function oidLine(bytes: Buffer, at: number, word: string): Oid | undefined {
  const start = at + word.length
  if (bytes[start + 40] !== 0x0a || bytes.toString('latin1', at, start) !== word) return undefined
  return parseOid(bytes.toString('latin1', start, start + 40))
}

/** So many digits fit into every place where git keeps a date. What does not begin like a number is none, and counts as 0. */
function parseDate(lines: string): number | undefined {
  const [, date] =
    /^author [^\n]*\ncommitter [^\n>]*>[ \t]*(\d{1,10}(?!\d)|[^\s\d+-])[^\n>]*$/.exec(lines) ?? []
  return date === undefined ? undefined : Number(date) || 0
}
