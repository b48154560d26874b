import { execFileSync } from 'node:child_process'
import { mkdtempDisposable, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where Linux has a file system in memory. */
const DIRECTORY = '/dev/shm'
/** Several times what all tests have in files at once. */
const ENOUGH_BYTES = 4 * 1024 ** 3

/**
 * A directory in memory for what the tests write, if there is one that will do. Nothing of it has to survive, and to
 * make a file takes a disk thirty times the CPU; the tests make hundreds of thousands, most of them PostgreSQL's.
 */
export async function findRoomInMemory(): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(DIRECTORY)
    return bavail * bsize >= ENOUGH_BYTES && (await canRunFrom(DIRECTORY)) ? DIRECTORY : undefined
  } catch {
    return undefined
  }
}

/** In a container it is often closed to programs, and some tests write their own. */
async function canRunFrom(directory: string): Promise<boolean> {
  await using tried = await mkdtempDisposable(join(directory, 'trellis-tried-'))
  const program = join(tried.path, 'program')
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
  execFileSync(program)
  return true
}
