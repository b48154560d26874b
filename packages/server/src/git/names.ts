// The only doors through which outside text becomes something that may be handed to git.

declare const brand: unique symbol
type Branded<B extends string> = string & { readonly [brand]: B }

/** A full object id: 40 lowercase hex digits. */
export type Oid = Branded<'oid'>
/** A full ref name, such as refs/heads/main. */
export type RefName = Branded<'ref'>
/** Short, without refs/heads/. */
export type BranchName = Branded<'branch'>
/** Short, without refs/tags/. */
export type TagName = Branded<'tag'>
/** What may stand where git expects a revision; it never starts with '-'. */
type Revision = Branded<'revision'>
/** A path inside a tree. It may start with '-', so it only ever follows '--'. */
export type TreePath = Branded<'path'>
/** An absolute path on the file system. */
export type FilePath = Branded<'file'>

/** Everything that may be a plain argument of git. */
export type Value = Oid | RefName | BranchName | TagName | Revision | FilePath

/** Where the wire protocol says that there is nothing. */
export const ZERO_OID = '0'.repeat(40) as Oid
/** Known to git without being stored. */
export const EMPTY_TREE_OID = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid

const MAX_REF_BYTES = 1024
const MAX_PATH_BYTES = 4096

/** Undefined for an abbreviated id, or one in capital letters. */
export function parseOid(s: string): Oid | undefined {
  return /^[0-9a-f]{40}$/.test(s) ? (s as Oid) : undefined
}

export function parseRefName(s: string): RefName | undefined {
  // Like receive-pack: below refs/ there must be a category and a name.
  return /^refs\/[^/]+\//.test(s) && isWellFormedRef(s) ? (s as RefName) : undefined
}

export function parseBranchName(s: string): BranchName | undefined {
  return isShortName(s, 'refs/heads/') ? (s as BranchName) : undefined
}

export function parseTagName(s: string): TagName | undefined {
  return isShortName(s, 'refs/tags/') ? (s as TagName) : undefined
}

/** Refuses what some file system would take for a way out of the tree, or into `.git`. */
export function parseTreePath(s: string): TreePath | undefined {
  if (s.includes('\0') || !s.isWellFormed() || Buffer.byteLength(s) > MAX_PATH_BYTES) return undefined
  return s.split('/').every(isSafeComponent) ? (s as TreePath) : undefined
}

export function parseFilePath(s: string): FilePath | undefined {
  return s.startsWith('/') && !s.includes('\0') ? (s as FilePath) : undefined
}

export const branchRef = (name: BranchName) => `refs/heads/${name}` as RefName
export const tagRef = (name: TagName) => `refs/tags/${name}` as RefName

/** Everything reachable from exactly one of the two. */
export const symmetricRange = (a: Oid, b: Oid) => `${a}...${b}` as Revision
/** Everything but what is reachable from it. */
export const excluding = (oid: Oid) => `^${oid}` as Revision

type RefType = 'branch' | 'tag' | 'other'

/** A ref as people say it, and what kind of ref that is. */
export function shortRef(name: RefName): { name: string; type: RefType } {
  if (name.startsWith('refs/heads/')) return { name: name.slice('refs/heads/'.length), type: 'branch' }
  if (name.startsWith('refs/tags/')) return { name: name.slice('refs/tags/'.length), type: 'tag' }
  return { name, type: 'other' }
}

function isShortName(s: string, prefix: string): boolean {
  return !s.startsWith('-') && s !== 'HEAD' && isWellFormedRef(prefix + s)
}

/** The rules of git-check-ref-format for a name with at least one slash. */
function isWellFormedRef(s: string): boolean {
  if (!s.isWellFormed() || Buffer.byteLength(s) > MAX_REF_BYTES) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(s)) return false
  return s.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}

// Code points that HFS+ ignores when it compares names.
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

function isSafeComponent(part: string): boolean {
  if (part === '' || part === '.' || part === '..') return false
  if (part.replace(HFS_IGNORED, '').toLowerCase() === '.git') return false
  // NTFS drops trailing dots and spaces, knows .git as git~1 too, takes what follows a colon as a stream, and what follows
  // a backslash as a name.
  return !/(^|\\)(\.git|git~1)[. ]*([:\\]|$)/i.test(part)
}
