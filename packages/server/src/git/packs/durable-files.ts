// Files that are written once and must be there after a power cut. What a file system does for one sync it does for all
// that are asked for at the same time, so nothing here is synced one after the other.

import { type FileHandle, open } from 'node:fs/promises'

interface NewFile {
  path: string
  bytes: Uint8Array
}

interface Making {
  /** Makes a file whose writes are synced when they are done. */
  openNew(path: string): Promise<FileHandle>
  /** Makes durable that files are in the folder. */
  syncFolder(): Promise<void>
  modified?: Date | undefined
}

/** Writes files that are not there yet into one folder. When it fails some may be there; nothing is written any more then. */
export async function writeDurably(
  files: readonly NewFile[],
  { openNew, syncFolder, modified }: Making,
): Promise<void> {
  const opened = new Map<NewFile, FileHandle>()
  try {
    await allDone(files.map(async (file) => void opened.set(file, await openNew(file.path))))
    const writing = Array.from(opened, async ([{ bytes }, handle]) => {
      await writeWhole(handle, bytes)
      if (modified) await handle.utimes(modified, modified)
    })
    await allDone([...writing, syncFolder()])
  } finally {
    for (const handle of opened.values()) closeSynced(handle)
  }
}

/** In as few writes as it takes, which is mostly one. */
async function writeWhole(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten
}

/** Nobody waits for it: what has been synced is there, whatever becomes of the descriptor. */
function closeSynced(handle: FileHandle): void {
  handle.close().catch(ignore)
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

/** Like Promise.all, but a failure is thrown only when all have ended. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work)
  await Promise.all(work)
}
