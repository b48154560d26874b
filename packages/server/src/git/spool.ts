// One stream, written once to a file and followed by any number of readers while it is still being written.
// The file is unlinked as soon as it is open: it can only be reached through its spool, and a crash leaves none.
// It is a ring of `capacity` bytes; a stream that is longer waits for its slowest reader.

import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'

export type Spool = {
  readonly capacity: number
  readonly file: Promise<FileHandle>
  readonly readers: Set<{ position: number }>
  /** Aborted when what is being written is of no use any more. */
  readonly abort: AbortController
  /** How much of the stream has been written so far. */
  written: number
  state: 'writing' | 'complete' | { failed: unknown }
  /** Resolves at the next `notify`. */
  changed: PromiseWithResolvers<void>
}

export function openSpool(dir: string, capacity: number): Spool {
  return {
    capacity,
    file: openNameless(dir),
    readers: new Set(),
    abort: new AbortController(),
    written: 0,
    state: 'writing',
    changed: Promise.withResolvers(),
  }
}

/** Wakes whoever waits; call it after changing anything of a spool. */
export function notify(spool: Spool): void {
  const { resolve } = spool.changed
  spool.changed = Promise.withResolvers()
  resolve()
}

export async function append(spool: Spool, chunk: Uint8Array): Promise<void> {
  const { capacity } = spool
  const file = await spool.file
  let done = 0
  while (done < chunk.length) {
    spool.abort.signal.throwIfAborted()
    const slowest = Math.min(spool.written, ...[...spool.readers].map((reader) => reader.position))
    const room = capacity - (spool.written - slowest)
    if (room <= 0) {
      await spool.changed.promise
      continue
    }
    const start = spool.written % capacity
    const length = Math.min(chunk.length - done, room, capacity - start)
    const { bytesWritten } = await file.write(chunk, done, length, start)
    done += bytesWritten
    spool.written += bytesWritten
    notify(spool)
  }
}

const readSize = 256 * 1024

/** The stream from its beginning, so it must be called before the ring is full. Fails as soon as the spool does. */
export async function* follow(spool: Spool, signal?: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  const reader = { position: 0 }
  const wake = () => notify(spool)
  spool.readers.add(reader)
  signal?.addEventListener('abort', wake)
  try {
    const file = await spool.file
    for (;;) {
      signal?.throwIfAborted()
      if (typeof spool.state === 'object') throw spool.state.failed
      const available = spool.written - reader.position
      if (available > 0) {
        const start = reader.position % spool.capacity
        const length = Math.min(available, readSize, spool.capacity - start)
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, start)
        if (bytesRead === 0) throw new Error('a spool is shorter than what was written')
        reader.position += bytesRead
        notify(spool)
        yield buffer.subarray(0, bytesRead)
      } else if (spool.state === 'complete') return
      else await spool.changed.promise
    }
  } finally {
    signal?.removeEventListener('abort', wake)
    spool.readers.delete(reader)
    notify(spool)
  }
}

async function openNameless(dir: string): Promise<FileHandle> {
  await mkdir(dir, { recursive: true })
  const path = join(dir, `${randomBytes(12).toString('hex')}.spool`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
