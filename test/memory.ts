import { execFileSync } from 'node:child_process'
import { chmod, type DisposableTempDir, mkdtempDisposable, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where Linux has a file system in memory. */
const FILE_SYSTEM = '/dev/shm'
/** Several times what all tests have in files at once. */
const ENOUGH_BYTES = 4 * 1024 ** 3

/**
 * A directory in memory for what the tests write, where there is room for one. Nothing of it has to survive, and to
 * make a file can take a disk thirty times the CPU: the tests make hundreds of thousands, most of them PostgreSQL's.
 */
export async function makeRoomInMemory(): Promise<DisposableTempDir | undefined> {
  let room: DisposableTempDir | undefined
  try {
    const { bavail, bsize } = await statfs(FILE_SYSTEM)
    if (bavail * bsize < ENOUGH_BYTES) return undefined
    room = await mkdtempDisposable(join(FILE_SYSTEM, 'trellis-'))
    // PostgreSQL may run as another user.
    await chmod(room.path, 0o755)
    // In a container it is often closed to programs, and some tests write their own.
    const program = join(room.path, 'program')
    await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
    execFileSync(program)
    return room
  } catch {
    await room?.remove()
    return undefined
  }
}
