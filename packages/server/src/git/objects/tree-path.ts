import type { Oid } from '../names.ts'

interface Step {
  oid: Oid
  isSubmodule: boolean
  /** What is left of the path below this directory. */
  rest?: Buffer
}

const SLASH = 0x2f
/** The upper bits of a mode. */
const DIRECTORY = 0o4
const SUBMODULE = 0o16

/**
 * Goes one step along a path, just as git does: where a tree is not in order, it does not find everything either.
 * Throws what is no tree.
 */
export function stepInto(tree: Buffer, path: Buffer): Step | undefined {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at)
    const nul = tree.indexOf(0, space)
    if (space < 0 || nul < 0 || nul + 20 >= tree.length) throw new Error('malformed tree object')
    const length = nul - space - 1
    if (length <= path.length) {
      const order = path.compare(tree, space + 1, nul, 0, length)
      if (order < 0) return undefined
      const isWhole = length === path.length
      if (order === 0 && (isWhole || path[length] === SLASH)) {
        const oid = tree.toString('hex', nul + 1, nul + 21) as Oid
        const kind = Number.parseInt(tree.toString('latin1', at, space), 8) >> 12
        if (isWhole) return { oid, isSubmodule: kind === SUBMODULE }
        return kind === DIRECTORY ? { oid, isSubmodule: false, rest: path.subarray(length + 1) } : undefined
      }
    }
    at = nul + 21
  }
  return undefined
}
