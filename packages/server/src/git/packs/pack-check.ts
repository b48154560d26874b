// Every file of a pack ends in the SHA-1 of all that comes before, so whether it still is what was written can be
// found out without git, at the cost of reading it.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const CHUNK_BYTES = 1024 * 1024
const CHECKSUM_BYTES = 20

export interface Reading {
  signal?: AbortSignal | undefined
  /** Rests between the chunks, where nobody waits for the outcome and others want the disk. */
  restMs?: number
}

/** Whether a file of a pack ends in its checksum. Also false where the disk gives no answer. */
export async function isIntact(path: string, { signal, restMs }: Reading): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (size <= CHECKSUM_BYTES) return false
    const hash = createHash('sha1')
    const buffer = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES))
    for (let at = 0; at < size - CHECKSUM_BYTES; ) {
      signal?.throwIfAborted()
      const wanted = Math.min(buffer.length, size - CHECKSUM_BYTES - at)
      const { bytesRead } = await file.read(buffer, 0, wanted, at)
      if (bytesRead === 0) return false
      hash.update(buffer.subarray(0, bytesRead))
      at += bytesRead
      if (restMs) await sleep(restMs)
    }
    const end = await file.read(Buffer.alloc(CHECKSUM_BYTES), 0, CHECKSUM_BYTES, size - CHECKSUM_BYTES)
    return hash.digest().equals(end.buffer)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EIO') return false
    throw error
  } finally {
    await file.close()
  }
}
