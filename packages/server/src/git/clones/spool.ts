// One stream, written once and followed by any number of readers while it is still being written. What has just come
// is handed out from memory, and everything is in a file for those who are further behind or come later.
// The file is unlinked as soon as it is open: it can only be reached through its spool, and a crash leaves none.
// It is a ring of `capacity` bytes; a stream that is longer waits for its slowest reader.

import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Changed only by the functions here and by whoever fills it. */
export interface Spool {
  readonly capacity: number
  readonly file: Promise<FileHandle>
  readonly readers: Set<{ position: number }>
  /** Aborted when what is being written is of no use any more. */
  readonly abort: AbortController
  /** How much of the stream there is so far. */
  written: number
  /** How much of it is in the file. */
  filed: number
  /** The chunks that are in memory, in order; the last one ends at `written`. */
  recent: Buffer[]
  recentBytes: number
  filing: Promise<void> | undefined
  state: 'writing' | 'complete' | { failed: unknown }
  /** Resolves at the next `notify`. */
  changed: PromiseWithResolvers<void>
}

/** Its file is in `dir`, and has no name there. */
export function openSpool(dir: string, capacity: number): Spool {
  return {
    capacity,
    file: openNameless(dir),
    readers: new Set(),
    abort: new AbortController(),
    written: 0,
    filed: 0,
    recent: [],
    recentBytes: 0,
    filing: undefined,
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

/** Writing to the file costs the same for a few bytes. */
const FILED_AT_ONCE = 256 * 1024
/** Of what is on its way to the file, and of what is kept in memory once it is there. */
const MAX_UNFILED = 1024 * 1024
const MAX_RECENT = 512 * 1024

/** Resolves when there is room for more. */
export async function append(spool: Spool, chunk: Uint8Array): Promise<void> {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  let done = 0
  while (done < bytes.length) {
    spool.abort.signal.throwIfAborted()
    let slowest = spool.written
    for (const { position } of spool.readers) slowest = Math.min(slowest, position)
    const room = Math.min(slowest + spool.capacity, spool.filed + MAX_UNFILED) - spool.written
    if (room <= 0) {
      // What is being filed makes room, or fails; so does a reader that goes on.
      await (spool.filing ?? spool.changed.promise)
      continue
    }
    const part = bytes.subarray(done, done + room)
    spool.recent.push(part)
    spool.recentBytes += part.length
    spool.written += part.length
    done += part.length
    if (spool.written - spool.filed >= FILED_AT_ONCE) startFiling(spool)
    notify(spool)
  }
}

/** Resolves when all of the stream so far is in the file. */
export async function settle(spool: Spool): Promise<void> {
  startFiling(spool)
  await spool.filing
  spool.recent = []
  spool.recentBytes = 0
}

function startFiling(spool: Spool): void {
  if (spool.filing) return
  spool.filing = fileRecent(spool)
  // Whoever appends more, or settles, hears of a failure: it stays.
  spool.filing.catch(() => {})
}

async function fileRecent(spool: Spool): Promise<void> {
  const { capacity } = spool
  const file = await spool.file
  while (spool.filed < spool.written) {
    const start = spool.filed % capacity
    const chunks = chunksFrom(spool, spool.filed, capacity - start)
    const { bytesWritten } = await file.writev(chunks, start)
    spool.filed += bytesWritten
    forgetOldest(spool)
    notify(spool)
  }
  spool.filing = undefined
}

function forgetOldest(spool: Spool): void {
  let start = spool.written - spool.recentBytes
  let count = 0
  for (const { length } of spool.recent) {
    if (spool.recentBytes <= MAX_RECENT || start + length > spool.filed) break
    start += length
    spool.recentBytes -= length
    count++
  }
  if (count > 0) spool.recent.splice(0, count)
}

/** What is in memory from `position` on, `most` bytes of it. */
function chunksFrom({ written, recent, recentBytes }: Spool, position: number, most: number): Buffer[] {
  const chunks: Buffer[] = []
  const end = position + most
  let start = written - recentBytes
  for (const chunk of recent) {
    if (start >= end) break
    if (start + chunk.length > position) {
      const from = Math.max(0, position - start)
      const to = Math.min(chunk.length, end - start)
      chunks.push(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to))
    }
    start += chunk.length
  }
  return chunks
}

const READ_BYTES = 256 * 1024

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
        const chunks =
          available <= spool.recentBytes
            ? chunksFrom(spool, reader.position, READ_BYTES)
            : [await readChunk(spool, file, reader.position)]
        for (const chunk of chunks) {
          reader.position += chunk.length
          notify(spool)
          yield chunk
        }
      } else if (spool.state === 'complete') return
      else await spool.changed.promise
    }
  } finally {
    signal?.removeEventListener('abort', wake)
    spool.readers.delete(reader)
    notify(spool)
  }
}

async function readChunk({ capacity, filed }: Spool, file: FileHandle, position: number): Promise<Buffer> {
  const start = position % capacity
  const length = Math.min(filed - position, READ_BYTES, capacity - start)
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(length), 0, length, start)
  if (bytesRead === 0) throw new Error('a spool is shorter than what was written')
  return buffer.subarray(0, bytesRead)
}

async function openNameless(dir: string): Promise<FileHandle> {
  await mkdir(dir, { recursive: true })
  const path = join(dir, `${randomBytes(12).toString('hex')}.spool`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
