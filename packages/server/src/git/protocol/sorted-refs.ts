// A list of refs in the order of their names, which never changes: one in which a few refs have moved is made from the one
// before, and shares nearly all of it.

import type { RefName } from '../names.ts'
import type { Ref } from './advertisement.ts'

/** A ref as it is now; null when it is gone. */
export interface MovedRef {
  name: RefName
  ref: Ref | null
}

/** Some that follow each other. What is made from them may be kept by the block. */
export type RefBlock = readonly Ref[]

/** Of a block those from the one on, up to and without the other. */
export interface RefRange {
  block: RefBlock
  from: number
  to: number
}

/** So many are in a block that was just made, and it is made two when they are twice as many. */
const BLOCK = 256

export class SortedRefs implements Iterable<Ref> {
  readonly blocks: readonly RefBlock[]
  readonly length: number

  private constructor(blocks: readonly RefBlock[]) {
    this.blocks = blocks
    this.length = blocks.reduce((sum, block) => sum + block.length, 0)
  }

  /** They must be in order. */
  static of(refs: readonly Ref[]): SortedRefs {
    return new SortedRefs(cut(refs))
  }

  *[Symbol.iterator](): Generator<Ref, void, undefined> {
    for (const block of this.blocks) yield* block
  }

  find(name: RefName): Ref | undefined {
    const block = this.blocks[this.#blockOf(name)] ?? []
    const found = block[placeIn(block, name)]
    return found?.name === name ? found : undefined
  }

  /** Those whose names begin so. */
  *below(prefix: string): Generator<RefRange, void, undefined> {
    let at = this.#blockOf(prefix)
    for (let block = this.blocks[at]; block; block = this.blocks[++at]) {
      const from = placeIn(block, prefix)
      const last = block.at(-1)?.name.startsWith(prefix)
      const to = last ? block.length : search(block, ({ name }) => isBeforeEndOf(name, prefix))
      if (from < to) yield { block, from, to }
      if (to < block.length) return
    }
  }

  /** The list after these moves, of which the last of a name counts. */
  with(moved: readonly MovedRef[]): SortedRefs {
    const last = new Map(moved.map((each) => [each.name, each]))
    const byBlock = Map.groupBy(last.values(), ({ name }) => this.#blockOf(name))
    if (this.blocks.length === 0) return new SortedRefs(cut(applied([], [...last.values()])))
    return new SortedRefs(
      this.blocks.flatMap((block, i) => {
        const here = byBlock.get(i)
        if (!here) return [block]
        const after = applied(block, here)
        return after.length > 2 * BLOCK ? cut(after) : after.length > 0 ? [after] : []
      }),
    )
  }

  /** Where it is, or would be: the last block that does not begin after it, or the first. */
  #blockOf(name: string): number {
    const after = search(this.blocks, (block) => compareNames((block[0] as Ref).name, name) <= 0)
    return Math.max(0, after - 1)
  }
}

function cut(refs: readonly Ref[]): RefBlock[] {
  const blocks: RefBlock[] = []
  for (let i = 0; i < refs.length; i += BLOCK) blocks.push(refs.slice(i, i + BLOCK))
  return blocks
}

function applied(block: RefBlock, moved: readonly MovedRef[]): Ref[] {
  const names = new Set(moved.map(({ name }) => name))
  return [...block.filter(({ name }) => !names.has(name)), ...moved.flatMap(({ ref }) => ref ?? [])].sort(
    (a, b) => compareNames(a.name, b.name),
  )
}

const placeIn = (block: RefBlock, name: string): number =>
  search(block, (ref) => compareNames(ref.name, name) < 0)

const isBeforeEndOf = (name: string, prefix: string): boolean =>
  compareNames(name, prefix) < 0 || name.startsWith(prefix)

/** How many come first of which it is so, when it is so of none after them. */
function search<T>(items: readonly T[], isBefore: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}

/** git orders names by their bytes, which is by code points; strings compare by UTF-16 units. */
export function compareNames(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const difference = rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Surrogates, which stand for what lies beyond, come after all other units. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
