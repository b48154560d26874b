// Commits, trees and blobs in which nothing is unusual, so that git's own checks of a push would surely pass. What is
// not plain is not therefore bad: git is asked.
//
// All of it must be text but for the ids in trees. Git looks at everything for traces of collisions of SHA-1, which is
// not done here, and those need blocks that are no text.

import { isUtf8 } from 'node:buffer'
import type { Oid } from '../names.ts'
import type { ObjectType } from './format.ts'

/** What a plain object needs. */
interface PlainLinks {
  /** These must be there, each of its type. */
  links: { oid: Oid; type: ObjectType }[]
  /** Blobs that git reads as attributes. */
  attributes: Oid[]
}

/** Of commits and trees: larger ones are unusual, and would keep others waiting. */
const MAX_BYTES = 128 * 1024

/** Undefined when it is not plain. */
export function linksOfPlain(type: ObjectType, content: Buffer): PlainLinks | undefined {
  if (type !== 'blob' && content.length > MAX_BYTES) return undefined
  if (type === 'tree') return linksOfTree(content)
  if (!isUtf8(content)) return undefined
  if (type === 'commit') return linksOfCommit(content.toString('latin1'))
  return type === 'blob' ? { links: [], attributes: [] } : undefined
}

const typeOfMode: Record<string, ObjectType> = {
  '100644': 'blob',
  '100755': 'blob',
  '120000': 'blob',
  '40000': 'tree',
  // A commit of another repository.
  '160000': 'commit',
}
const MAX_MODE = 6
const ID_BYTES = 20
const NO_ID = '0'.repeat(40)
const ATTRIBUTES = '.gitattributes'

function linksOfTree(content: Buffer): PlainLinks | undefined {
  const plain: PlainLinks = { links: [], attributes: [] }
  const names = new Set<string>()
  let last = ''
  // Git knows the empty one without having it.
  if (content.length === 0) return undefined
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const nul = content.indexOf(0, space + 1)
    if (space < 0 || space - at > MAX_MODE || nul < 0 || nul + ID_BYTES >= content.length) return undefined
    const mode = content.toString('latin1', at, space)
    const type = typeOfMode[mode]
    const name = content.toString('latin1', space + 1, nul)
    const oid = content.toString('hex', nul + 1, nul + 1 + ID_BYTES) as Oid
    if (!type || oid === NO_ID || !isPlainName(name, content.subarray(space + 1, nul))) return undefined
    // A directory is sorted as if a slash followed, and may not have the name of a file either.
    const key = `${name}${type === 'tree' ? '/' : '\0'}`
    if (key <= last || names.has(name)) return undefined
    if (SPECIAL_NAME.test(name)) {
      if (!PLAIN_SPECIAL_NAMES.has(name) || mode === '120000') return undefined
      if (name === ATTRIBUTES) {
        if (type !== 'blob') return undefined
        plain.attributes.push(oid)
      }
    }
    if (type !== 'commit') plain.links.push({ oid, type })
    names.add(name)
    last = key
    at = nul + 1 + ID_BYTES
  }
  return plain
}

const MAX_NAME_BYTES = 1024
// No character of control, and none that separates names or streams somewhere or is part of a short name; nor the bytes
// with which the characters begin that some file systems ignore.
const PLAIN_NAME = /^[ -.0-9;-[\]-}\x80-\xe1\xe3-\xee\xf0-\xff]+$/
const SPECIAL_NAME = /\.git/i
const PLAIN_SPECIAL_NAMES = new Set(['.gitignore', '.gitkeep', '.github', '.gitlab-ci.yml', ATTRIBUTES])

function isPlainName(name: string, bytes: Buffer): boolean {
  if (name.length > MAX_NAME_BYTES || name === '.' || name === '..') return false
  return PLAIN_NAME.test(name) && isUtf8(bytes)
}

const HEADERS = /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author ([^\n]*)\ncommitter ([^\n]*)\n/
const PERSON = /^[^<>]+ <[^<>]*> (?:0|[1-9][0-9]{0,9}) [+-][0-9]{4}$/
const OTHER_HEADER = /^[A-Za-z][A-Za-z0-9:-]* /
const RESERVED_HEADER = /^(tree|parent|author|committer) /

function linksOfCommit(text: string): PlainLinks | undefined {
  const [head, tree, parents = '', author = '', committer = ''] = HEADERS.exec(text) ?? []
  if (!head || !tree || !PERSON.test(author) || !PERSON.test(committer) || text.includes('\0'))
    return undefined
  for (let at = head.length; ; ) {
    const end = text.indexOf('\n', at)
    if (end < 0) return undefined
    if (end === at) break
    const line = text.slice(at, end + 1)
    // What begins with a space goes on with the header before.
    const isOther = OTHER_HEADER.test(line) && !RESERVED_HEADER.test(line)
    if (!isOther && (at === head.length || !line.startsWith(' '))) return undefined
    at = end + 1
  }
  const links: PlainLinks['links'] = [{ oid: tree as Oid, type: 'tree' }]
  for (const [, oid] of parents.matchAll(/ ([0-9a-f]{40})/g)) links.push({ oid: oid as Oid, type: 'commit' })
  return { links, attributes: [] }
}

const MAX_ATTRIBUTE_LINE = 2048

/** Whether git takes it for attributes. */
export const arePlainAttributes = (content: Buffer): boolean =>
  !content.includes(0) &&
  content
    .toString('latin1')
    .split('\n')
    .every((line) => line.length < MAX_ATTRIBUTE_LINE)
