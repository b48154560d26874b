import { openSync, readdirSync, readFileSync } from 'node:fs'

const CLOSED_ON_EXEC = 0o2000000
const FIRST_OF_OURS = 5

let known: readonly (number | 'ignore')[] | undefined

/**
 * What follows the first descriptors of a process that is started. Node closes its own to others; those that whoever
 * started the server left open would be inherited, and get something harmless in their place.
 */
export function descriptorsAfter(): readonly (number | 'ignore')[] {
  known ??= find()
  return known
}

function find(): (number | 'ignore')[] {
  const inherited = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd >= FIRST_OF_OURS && isInherited(fd))
  if (inherited.length === 0) return []
  const nothing = openSync('/dev/null', 'r')
  const descriptors = Array.from(
    { length: Math.max(...inherited) + 1 - FIRST_OF_OURS },
    () => 'ignore' as const,
  )
  return descriptors.map((ignored, at) => (inherited.includes(at + FIRST_OF_OURS) ? nothing : ignored))
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0
  } catch {
    return false
  }
}
