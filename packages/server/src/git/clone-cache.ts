// Answers to clones, kept on local disk and shared while they are still being made. Files are unlinked as soon
// as they are open: they can only be reached through the entry that wrote them, and a crash leaves none.

import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'

export type Produce = (signal: AbortSignal) => AsyncIterable<Uint8Array>

export type CloneCache = {
  /**
   * The answer for `key`: kept, in the making, or made now by `produce`. Fails when its production fails.
   * Production goes on while anyone reads and is aborted when the last reader leaves.
   */
  read(key: string, produce: Produce): AsyncGenerator<Buffer, void, undefined>
  readonly bytes: number
  readonly entries: number
  close(): Promise<void>
}

export type CloneCacheOptions = {
  dir: string
  maxBytes: number
  /** A longer answer is shared by those who read it now and not kept. Default: a quarter of maxBytes. */
  maxEntryBytes?: number
  /** Each entry holds a file descriptor. Default: 256. */
  maxEntries?: number
}

const readSize = 256 * 1024

type Reader = { position: number }

type Entry = {
  key: string
  file: Promise<FileHandle>
  state: 'producing' | 'complete' | { failed: unknown }
  /** How much was produced. The file is a ring; it only wraps around once the entry is no longer listed. */
  written: number
  readers: Set<Reader>
  abort: AbortController
  /** Resolves when anything above has changed. */
  changed: PromiseWithResolvers<void>
}

export function createCloneCache(options: CloneCacheOptions): CloneCache {
  const { dir, maxBytes, maxEntries = 256 } = options
  const capacity = options.maxEntryBytes ?? Math.ceil(maxBytes / 4)
  // Least recently used first. An entry that is not listed serves its readers and vanishes with the last.
  const listed = new Map<string, Entry>()
  const live = new Set<Entry>()
  const bytes = () => live.values().reduce((sum, entry) => sum + Math.min(entry.written, capacity), 0)

  async function* read(key: string, produce: Produce): AsyncGenerator<Buffer, void, undefined> {
    const entry = listed.get(key) ?? begin(key, produce)
    if (!entry) {
      yield* readDirectly(produce)
      return
    }
    if (listed.delete(key)) listed.set(key, entry)
    const reader = { position: 0 }
    entry.readers.add(reader)
    try {
      yield* follow(entry, reader, capacity)
    } finally {
      entry.readers.delete(reader)
      leave(entry)
    }
  }

  /** Undefined when there is no room, because everything kept is being read. */
  function begin(key: string, produce: Produce): Entry | undefined {
    makeRoom(1)
    if (bytes() >= maxBytes || live.size >= maxEntries) return undefined
    const entry: Entry = {
      key,
      file: openNameless(dir),
      state: 'producing',
      written: 0,
      readers: new Set(),
      abort: new AbortController(),
      changed: Promise.withResolvers(),
    }
    listed.set(key, entry)
    live.add(entry)
    void fill(entry, produce)
    return entry
  }

  async function fill(entry: Entry, produce: Produce): Promise<void> {
    try {
      const file = await entry.file
      for await (const chunk of produce(entry.abort.signal)) {
        if (entry.written + chunk.length > capacity) unlist(entry)
        await append(entry, file, chunk, capacity)
        makeRoom(0)
      }
      entry.abort.signal.throwIfAborted()
      entry.state = 'complete'
    } catch (error) {
      entry.state = { failed: error }
      unlist(entry)
    }
    notify(entry)
    disposeIfUnused(entry)
  }

  function leave(entry: Entry): void {
    // Unlisted at once, so that whoever comes next starts afresh and does not join what is being aborted.
    if (entry.readers.size === 0 && entry.state === 'producing') {
      unlist(entry)
      entry.abort.abort(new Error('nobody reads this any more'))
    }
    notify(entry)
    disposeIfUnused(entry)
  }

  /** For `coming` more entries of at least a byte. */
  function makeRoom(coming: 0 | 1): void {
    for (const entry of listed.values()) {
      if (bytes() + coming <= maxBytes && live.size + coming <= maxEntries) return
      if (entry.readers.size > 0 || entry.state === 'producing') continue
      unlist(entry)
      disposeIfUnused(entry)
    }
  }

  function unlist(entry: Entry): void {
    if (listed.get(entry.key) === entry) listed.delete(entry.key)
  }

  function disposeIfUnused(entry: Entry): void {
    const isListed = listed.get(entry.key) === entry
    if (isListed || entry.readers.size > 0 || entry.state === 'producing' || !live.delete(entry)) return
    entry.file.then((file) => file.close()).catch(() => {})
  }

  async function close(): Promise<void> {
    for (const entry of live) {
      unlist(entry)
      entry.abort.abort(new Error('the cache is closed'))
      notify(entry)
      disposeIfUnused(entry)
    }
  }

  return {
    read,
    close,
    get bytes() {
      return bytes()
    },
    get entries() {
      return listed.size
    },
  }
}

async function* follow(
  entry: Entry,
  reader: Reader,
  capacity: number,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await entry.file
  for (;;) {
    if (typeof entry.state === 'object') throw entry.state.failed
    const available = entry.written - reader.position
    if (available > 0) {
      const start = reader.position % capacity
      const length = Math.min(available, readSize, capacity - start)
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, start)
      if (bytesRead === 0) throw new Error('a cached answer is shorter than it was')
      reader.position += bytesRead
      notify(entry)
      yield buffer.subarray(0, bytesRead)
    } else if (entry.state === 'complete') return
    else await entry.changed.promise
  }
}

/** Waits for the slowest reader before it writes over what that one has not read. */
async function append(entry: Entry, file: FileHandle, chunk: Uint8Array, capacity: number): Promise<void> {
  let done = 0
  while (done < chunk.length) {
    entry.abort.signal.throwIfAborted()
    const slowest = Math.min(entry.written, ...[...entry.readers].map((reader) => reader.position))
    const room = capacity - (entry.written - slowest)
    if (room <= 0) {
      await entry.changed.promise
      continue
    }
    const start = entry.written % capacity
    const length = Math.min(chunk.length - done, room, capacity - start)
    const { bytesWritten } = await file.write(chunk, done, length, start)
    done += bytesWritten
    entry.written += bytesWritten
    notify(entry)
  }
}

async function* readDirectly(produce: Produce): AsyncGenerator<Buffer, void, undefined> {
  const abort = new AbortController()
  try {
    for await (const chunk of produce(abort.signal))
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  } finally {
    abort.abort()
  }
}

function notify(entry: Entry): void {
  const { resolve } = entry.changed
  entry.changed = Promise.withResolvers()
  resolve()
}

async function openNameless(dir: string): Promise<FileHandle> {
  await mkdir(dir, { recursive: true })
  const path = join(dir, `${randomBytes(12).toString('hex')}.clone`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
