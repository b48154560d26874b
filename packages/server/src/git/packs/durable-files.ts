// Files that are written once and must be there after a power cut. What a file system does for one sync it does for all
// that are asked for at the same time, so nothing here is synced one after the other.

import { constants, write } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'

const writeInThread = promisify(write)

/** Each write is synced when it is done. */
const NEW_AND_SYNCED = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_SYNC

/**
 * Files are closed by threads, and to wake one takes longer than what it does then: while somebody waits for what comes
 * next, this can wait, and then be done for several.
 */
const CLOSED_AFTER_MS = 20

/** A file that nobody but the server may read, and nobody write any more once it is closed. */
export const openNew = (path: string): Promise<FileHandle> => open(path, NEW_AND_SYNCED, 0o400)

/** In as few writes as it takes, which is mostly one. They are on the disk then. */
export async function writeWhole(
  handle: FileHandle,
  bytes: Uint8Array,
  { modified }: { modified: Date | undefined },
): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await writeInThread(handle.fd, bytes, at)).bytesWritten
  if (modified) await handle.utimes(modified, modified)
}

let toClose: FileHandle[] = []

/** Nobody waits for it: what has been synced is there, whatever becomes of the descriptor. */
export function closeSynced(handle: FileHandle): void {
  if (toClose.push(handle) > 1) return
  setTimeout(() => {
    for (const synced of toClose) synced.close().catch(ignore)
    toClose = []
  }, CLOSED_AFTER_MS)
}

/** Makes what is in a folder durable, as far as it is the folder that says so. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    closeSynced(handle)
  }
}

const ignore = () => undefined
