import { chmod, lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const OTHERS = 0o077

/**
 * Makes a directory that nobody but its owner may look into. One that others could look into until now is mended with all
 * that is in it, in case somebody opens it again; that takes a while, and is not needed a second time.
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (((await lstat(path)).mode & OTHERS) === 0) return
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink()) await close(join(entry.parentPath, entry.name))
  // The last, so that a start that was broken off is followed by one that mends the rest.
  await close(path)
}

async function close(path: string): Promise<void> {
  try {
    const { mode } = await lstat(path)
    if (mode & OTHERS) await chmod(path, mode & 0o700)
  } catch (error) {
    // Another process over the same directory may have been done with it; what belongs to somebody else is theirs to close.
    if (!['ENOENT', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
