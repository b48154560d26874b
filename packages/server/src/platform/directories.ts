import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a directory for its owner alone, and those above it that are not there; gives those it made, the outermost
 * first. Node's own `recursive` never ends where a file system has no place for it, such as below `/proc`.
 */
export async function makeDirectories(path: string): Promise<string[]> {
  try {
    await mkdir(path, { mode: 0o700 })
    return [path]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await isDirectory(path))) return []
    const parent = dirname(path)
    if (code !== 'ENOENT' || (await isDirectory(parent))) throw error
    const above = await makeDirectories(parent)
    return [...above, ...(await makeDirectories(path))]
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
