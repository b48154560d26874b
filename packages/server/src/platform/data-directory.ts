import { access, constants } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeDirectories } from './directories.ts'
import { StartError } from './start-error.ts'

const remedies: Record<string, string> = {
  EACCES: 'may not be written by the user that Trellis runs as: give it to that user',
  EPERM: 'may not be written by the user that Trellis runs as: give it to that user',
  EROFS: 'is on a file system that is read-only: mount it for writing',
  ENOENT: 'is where nobody can make one: mount a disk there',
  ENOTDIR: 'is no directory, or something above it is none: move that file away',
  EEXIST: 'is no directory, or something above it is none: move that file away',
  ENOSPC: 'is on a disk that is full: make room',
  EDQUOT: 'is on a disk whose quota is used up: make room',
  ENAMETOOLONG: 'has a name that is too long: choose a shorter one',
  ELOOP: 'is behind links that lead in a circle: mend them',
}

/** What others may have put there, as by restoring a copy as another user: better found at the start than by a push. */
const INSIDE = ['packs', 'scratch', 'bundles']
const USABLE = constants.R_OK | constants.W_OK | constants.X_OK

/** Makes the directory of everything that is kept on disk, if there is none. Throws StartError. */
export async function openDataDirectory(configured: string): Promise<string> {
  const path = resolve(configured)
  await inWords(path, async () => {
    await makeDirectories(path)
    await access(path, USABLE)
    for (const name of INSIDE)
      await access(join(path, name), USABLE).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
  })
  return path
}

/** Does what a start has to do in the data directory, and says in words what is wrong with that. */
export async function inWords<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const remedy = remedies[code]
    if (!remedy) throw error
    throw new StartError(
      `The data directory ${path} ${remedy}, or set TRELLIS_DATA to another (${message}).`,
      {
        cause: error,
      },
    )
  }
}
