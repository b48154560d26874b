// Entries of a tree as they are stored, one by one: for those who look at many trees and need little of each.

import type { Oid } from '../names.ts'

export interface RawEntry {
  /** As git takes it, whatever else the bits say. */
  mode: Mode
  oid: Oid
}

interface NamedEntry extends RawEntry {
  /** A part of the bytes of the tree. */
  name: Buffer
}

type Mode = '100644' | '100755' | '120000' | '040000' | '160000'

export class MalformedTree extends Error {
  override readonly name = 'MalformedTree'
  constructor() {
    super('malformed tree object')
  }
}

/** In the order in which they are stored. */
export function* readEntries(bytes: Buffer): Generator<NamedEntry> {
  for (let at = 0; at < bytes.length; ) {
    const { space, nul } = boundsOf(bytes, at)
    yield { ...entryAt(bytes, at, space, nul), name: bytes.subarray(space + 1, nul) }
    at = nul + 21
  }
}

export function findEntry(bytes: Buffer, name: Buffer): RawEntry | undefined {
  for (let at = 0; at < bytes.length; ) {
    const { space, nul } = boundsOf(bytes, at)
    const isIt = nul - space - 1 === name.length && name.compare(bytes, space + 1, nul) === 0
    if (isIt) return entryAt(bytes, at, space, nul)
    at = nul + 21
  }
  return undefined
}

function boundsOf(bytes: Buffer, at: number): { space: number; nul: number } {
  const space = bytes.indexOf(0x20, at)
  const nul = bytes.indexOf(0, space)
  if (space < 0 || nul < 0 || nul + 20 >= bytes.length) throw new MalformedTree()
  return { space, nul }
}

const entryAt = (bytes: Buffer, at: number, space: number, nul: number): RawEntry => ({
  mode: modeOf(Number.parseInt(bytes.toString('latin1', at, space), 8)),
  oid: bytes.toString('hex', nul + 1, nul + 21) as Oid,
})

const TYPE = 0o170000
const EXECUTABLE = 0o100

function modeOf(bits: number): Mode {
  const type = bits & TYPE
  if (type === 0o100000) return bits & EXECUTABLE ? '100755' : '100644'
  if (type === 0o040000) return '040000'
  return type === 0o120000 ? '120000' : '160000'
}

/** What two trees have of the same name and kind, side by side, in their order; `any` is one of the two. */
export function* pairEntries(
  a: Buffer,
  b: Buffer,
): Generator<{ was?: NamedEntry | undefined; is?: NamedEntry | undefined; any: NamedEntry }> {
  const [olds, news] = [readEntries(a), readEntries(b)]
  let was = olds.next().value
  let is = news.next().value
  while (was || is) {
    const order = was && is ? compareEntries(was, is) : was ? -1 : 1
    if (was && order <= 0) yield { was, is: order === 0 ? is : undefined, any: was }
    else if (is) yield { is, any: is }
    if (order <= 0) was = olds.next().value
    if (order >= 0) is = news.next().value
  }
}

/** As git orders them: a directory as if its name ended with a slash. */
function compareEntries(a: NamedEntry, b: NamedEntry): number {
  const shared = Math.min(a.name.length, b.name.length)
  const order = a.name.compare(b.name, 0, shared, 0, shared)
  return order || after(a, shared) - after(b, shared)
}

const after = ({ name, mode }: NamedEntry, at: number): number => name[at] ?? (mode === '040000' ? 0x2f : 0)
