import { closeSync, readdirSync, readFileSync } from 'node:fs'

const STANDARD = 2
const O_CLOEXEC = 0o2000000
/** The options after which V8 has a file open, such as --perf-basic-prof, --prof and --log-deopt. */
const LOGS_OF_V8 = /^--(perf|ll|log|prof|trace|redirect|turbo)([-_=]|$)/

/**
 * Closes what whoever started this process left open for it, beyond the standard three: all that it starts itself would
 * have it too. Node sees to most of it, and stops at a gap. Whatever is Node's own ends with `exec`, but for the logs that
 * V8 is asked to write: closed under it, their numbers would go to files of ours, and what it writes would go there.
 */
export function closeInherited(nodeOptions = ''): void {
  if ([...process.execArgv, ...nodeOptions.split(/\s+/)].some((option) => LOGS_OF_V8.test(option))) return
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
