// Files that are made before they are needed. Where many have just been deleted, as every command of git does with its
// locks, ext4 takes one or two milliseconds to find a place for a new one; to give one that is there its name takes a tenth.

import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '../../platform/randomness.ts'

/** Each write is synced when it is done. */
const NEW_AND_SYNCED = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_SYNC
/** A pack has two; some may come at once. */
const KEPT = 8
/** While others come more often than that, there is no good moment to make some: each makes its own. */
const QUIET_MS = 10

interface Spare {
  path: string
  handle: FileHandle
}

export interface SpareFiles {
  /** A new and empty file of this name, to be written into once and closed. */
  open(path: string): Promise<FileHandle>
  close(): Promise<void>
}

const ignore = () => undefined

/** A file that nobody but the server may read, and nobody write any more once it is closed. */
export const openNew = (path: string): Promise<FileHandle> => open(path, NEW_AND_SYNCED, 0o400)

/** Keeps them in a folder of their own, on the file system of those they are for. */
export function createSpareFiles(folder: string): SpareFiles {
  const spares: Spare[] = []
  let filling: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  async function fill(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    while (spares.length < KEPT && !isOver) {
      const path = join(folder, randomHex(8))
      spares.push({ path, handle: await openNew(path) })
    }
  }

  function fillLater(): void {
    clearTimeout(timer)
    if (isOver) return
    timer = setTimeout(() => {
      // Without any, files are made when they are needed.
      filling = filling.then(fill).catch(ignore)
    }, QUIET_MS).unref()
  }

  /** False where it cannot have the name, because it is gone. */
  async function name(spare: Spare, target: string): Promise<boolean> {
    try {
      await rename(spare.path, target)
      return true
    } catch (error) {
      // On another file system none ever will.
      if ((error as NodeJS.ErrnoException).code === 'EXDEV') isOver = true
      await discard(spare)
      return false
    }
  }

  async function discard({ path, handle }: Spare): Promise<void> {
    await handle.close().catch(ignore)
    await unlink(path).catch(ignore)
  }

  return {
    async open(path) {
      fillLater()
      const spare = isOver ? undefined : spares.pop()
      return spare && (await name(spare, path)) ? spare.handle : openNew(path)
    },

    async close() {
      isOver = true
      clearTimeout(timer)
      await filling
      await Promise.all(spares.splice(0).map(discard))
    },
  }
}
