import { closeSync, readdirSync, readFileSync } from 'node:fs'

const STANDARD = 2
const O_CLOEXEC = 0o2000000

/**
 * Closes what whoever started this process left open for it, beyond the standard three: all that it starts itself would
 * have it too. Node sees to most of it, and stops at a gap. Whatever is Node's own ends with `exec`.
 */
export function closeInherited(): void {
  for (const descriptor of openDescriptors())
    if (descriptor > STANDARD && isInherited(descriptor)) closeSync(descriptor)
}

/** None where the system does not tell. */
function openDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number)
  } catch {
    return []
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
  } catch {
    // It was open for this look alone.
    return false
  }
}
