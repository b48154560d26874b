import { openSync, readdirSync, readFileSync } from 'node:fs'

const CLOSED_ON_EXEC = 0o2000000
/** Those before it are always given. */
const FIRST = 3

let known: ReadonlyMap<number, number> | undefined

/**
 * What follows the first descriptors, so many, of a process that is started. Node closes its own to others; those that
 * whoever started the server left open would be inherited, and get something harmless in their place.
 */
export function descriptorsAfter(count: number): readonly (number | 'ignore')[] {
  known ??= find()
  const last = Math.max(-1, ...known.keys())
  return Array.from({ length: Math.max(0, last + 1 - count) }, (_, at) => known?.get(at + count) ?? 'ignore')
}

/** Inherited ones, and what to put there. */
function find(): Map<number, number> {
  const inherited = listOpen().filter((fd) => fd >= FIRST && isInherited(fd))
  if (inherited.length === 0) return new Map()
  const nothing = openSync('/dev/null', 'r')
  return new Map(inherited.map((fd) => [fd, nothing]))
}

/** Where the system tells. */
function listOpen(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number)
  } catch {
    return []
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0
  } catch {
    return false
  }
}
