import type { Oid } from '../names.ts'

interface Step {
  oid: Oid
  isSubmodule: boolean
  /** What is left of the path below this directory. */
  rest?: Buffer
}

const SPACE = 0x20
const SLASH = 0x2f
const OID_BYTES = 20
/** The upper bits of a mode. */
const DIRECTORY = 0o4
const SUBMODULE = 0o16

/**
 * Goes one step along a path, just as git does: where a tree is not in order, it does not find everything either.
 * Throws what is no tree. Byte by byte, because names are short: to ask Buffer for each took three times as long.
 */
export function stepInto(tree: Buffer, path: Buffer): Step | undefined {
  const end = tree.length
  for (let at = 0; at < end; ) {
    let space = at
    while (space < end && tree[space] !== SPACE) space++
    const name = space + 1
    let nul = name
    // How the path begins, against this name.
    let order = 0
    for (; nul < end && tree[nul] !== 0; nul++)
      if (order === 0 && nul - name < path.length)
        order = (path[nul - name] as number) - (tree[nul] as number)
    if (nul + OID_BYTES >= end) throw new Error('malformed tree object')
    const length = nul - name
    if (length <= path.length) {
      if (order < 0) return undefined
      const isWhole = length === path.length
      if (order === 0 && (isWhole || path[length] === SLASH)) {
        const oid = tree.toString('hex', nul + 1, nul + 1 + OID_BYTES) as Oid
        const kind = Number.parseInt(tree.toString('latin1', at, space), 8) >> 12
        if (isWhole) return { oid, isSubmodule: kind === SUBMODULE }
        return kind === DIRECTORY ? { oid, isSubmodule: false, rest: path.subarray(length + 1) } : undefined
      }
    }
    at = nul + 1 + OID_BYTES
  }
  return undefined
}
