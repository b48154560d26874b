// Answers to clones, kept on local disk for the next one who asks the same, and shared while they are being made.

import { createRecent } from '../../platform/recent.ts'
import { append, follow, notify, openSpool, type Spool, settle } from './spool.ts'
import {
  fillByWriting,
  followWritten,
  openWrittenSpool,
  type WriteAnswer,
  type WrittenSpool,
} from './written-spool.ts'

/** Makes an answer. What it gives is not changed afterwards. */
export type Produce = (signal: AbortSignal) => AsyncIterable<Uint8Array>

export interface CloneCache {
  /**
   * The answer for `key`: kept, in the making, or made now by `produce`. Fails when its production fails.
   * Production goes on while anyone reads and is aborted when the last reader leaves: by ending the iteration,
   * or by `signal`, which also ends a wait for what is not there yet.
   */
  read(key: string, produce: Produce, asked?: Asked): AsyncGenerator<Buffer, void, undefined>
  /**
   * The same for an answer that will hardly be longer than what is kept: written by `write`, or made by `otherwise`
   * when there is no room or it was longer after all.
   */
  readWritten(
    key: string,
    how: { write: WriteAnswer; otherwise: Produce },
    asked?: Asked,
  ): AsyncGenerator<Buffer, void, undefined>
  /** The longest answer that is kept. */
  readonly maxEntryBytes: number
  /** On disk, for whatever reason. */
  readonly bytes: number
  /** Answers that a new reader may get. */
  readonly entries: number
  close(): void
}

interface Asked {
  signal?: AbortSignal
  /** What the answer will hardly be longer than: without room for so much it is passed on and not kept. */
  expectedBytes?: number
}

interface CloneCacheOptions {
  dir: string
  maxBytes: number
  /** A longer answer is shared by those who read it now and not kept. Default: a quarter of maxBytes. */
  maxEntryBytes?: number
  /** Each entry holds a file descriptor. Default: 256. */
  maxEntries?: number
  /** How many bytes more the disk can take. */
  roomLeft?(): Promise<number>
  /** Hears of every answer that is asked for. */
  onRead?(source: CloneSource): void
}

/** Where an answer comes from: kept, in the making, made now, or made without a place to keep it. */
export type CloneSource = 'kept' | 'shared' | 'made' | 'passed'

interface Entry extends Spool {
  key: string
  /** On disk, when all of it is there. */
  expectedBytes: number
  follow(signal?: AbortSignal): AsyncGenerator<Buffer, void, undefined>
}

/** What is kept of an answer, how it is read, and how it is made. */
interface Kind<S extends Spool> {
  open(dir: string, capacity: number): S
  follow(spool: S, signal?: AbortSignal): AsyncGenerator<Buffer, void, undefined>
  fill(entry: S & Entry): Promise<void>
}

const MAX_OUTGROWN = 1000

export function createCloneCache(options: CloneCacheOptions): CloneCache {
  const { dir, maxBytes, maxEntries = 256, roomLeft = async () => Infinity, onRead } = options
  const capacity = options.maxEntryBytes ?? Math.ceil(maxBytes / 4)
  // Least recently used first. An entry that is not listed serves its readers and vanishes with the last.
  const listed = new Map<string, Entry>()
  const live = new Set<Entry>()
  const bytes = () => live.values().reduce((sum, entry) => sum + Math.min(entry.written, capacity), 0)
  const bytesToCome = () =>
    live
      .values()
      .filter(({ state }) => state === 'writing')
      .reduce((sum, { expectedBytes, written }) => sum + Math.max(0, expectedBytes - written), 0)
  /** Those that came out longer than anybody would expect. */
  const outgrown = createRecent<string, true>({ maxEntries: MAX_OUTGROWN })
  const isListed = (entry: Entry) => listed.get(entry.key) === entry

  async function* readOrMake<S extends Spool>(
    key: string,
    kind: Kind<S>,
    otherwise: Produce,
    { signal, expectedBytes = 0 }: Asked,
  ): AsyncGenerator<Buffer, void, undefined> {
    signal?.throwIfAborted()
    let entry = find(key)
    if (!entry) {
      const left = await roomLeft()
      // Somebody else may have begun meanwhile.
      entry = find(key) ?? begin(key, kind, { left, expectedBytes: Math.min(expectedBytes, capacity) })
    }
    if (!entry) {
      yield* readDirectly(otherwise, signal)
      return
    }
    listed.delete(entry.key)
    listed.set(entry.key, entry)
    try {
      yield* entry.follow(signal)
    } finally {
      leave(entry)
    }
  }

  const read: CloneCache['read'] = (key, produce, asked = {}) =>
    readOrMake(key, stream(produce), produce, asked)

  const readWritten: CloneCache['readWritten'] = (key, { write, otherwise }, asked = {}) =>
    outgrown.get(key) ? read(key, otherwise, asked) : readOrMake(key, written(write), otherwise, asked)

  function find(key: string): Entry | undefined {
    const entry = listed.get(key)
    if (entry) onRead?.(entry.state === 'complete' ? 'kept' : 'shared')
    return entry
  }

  /** Undefined when there is no room, because everything kept is being read or the disk has not enough. */
  function begin<S extends Spool>(
    key: string,
    { open, follow, fill }: Kind<S>,
    { left, expectedBytes }: { left: number; expectedBytes: number },
  ): (S & Entry) | undefined {
    makeRoom(1)
    const lacking = bytesToCome() + expectedBytes - left
    makeRoomOnDisk(lacking)
    const isRoom = lacking <= 0 && bytes() < maxBytes && live.size < maxEntries
    onRead?.(isRoom ? 'made' : 'passed')
    if (!isRoom) return undefined
    const spool = open(dir, capacity)
    const entry = Object.assign(spool, {
      key,
      expectedBytes,
      follow: (signal?: AbortSignal) => follow(spool, signal),
    })
    listed.set(key, entry)
    live.add(entry)
    void complete(entry, () => fill(entry))
    return entry
  }

  const stream = (produce: Produce): Kind<Spool> => ({
    open: openSpool,
    follow,
    async fill(entry) {
      for await (const chunk of produce(entry.abort.signal)) {
        // The spool will wrap around, so nobody new may start to read it.
        if (entry.written + chunk.length > capacity) unlist(entry)
        makeRoom(0)
        await append(entry, chunk)
      }
      await settle(entry)
    },
  })

  const written = (write: WriteAnswer): Kind<WrittenSpool> => ({
    open: openWrittenSpool,
    follow: followWritten,
    async fill(entry) {
      try {
        await fillByWriting(entry, write, () => makeRoom(0))
      } catch (error) {
        if (entry.written > capacity) outgrown.set(entry.key, true)
        throw error
      }
    },
  })

  async function complete(entry: Entry, fill: () => Promise<void>): Promise<void> {
    try {
      await entry.file
      await fill()
      entry.abort.signal.throwIfAborted()
      entry.state = 'complete'
    } catch (error) {
      // The file must not be closed under it.
      await entry.filing?.catch(() => {})
      entry.state = { failed: error }
      unlist(entry)
    }
    notify(entry)
    disposeIfUnused(entry)
  }

  function leave(entry: Entry): void {
    if (entry.readers.size === 0 && entry.state === 'writing') {
      // Unlisted at once, so that whoever comes next starts afresh and does not join what is being aborted.
      unlist(entry)
      entry.abort.abort(new Error('nobody reads this any more'))
      notify(entry)
    }
    disposeIfUnused(entry)
  }

  /** For `coming` more entries of at least a byte. */
  function makeRoom(coming: 0 | 1): void {
    for (const entry of listed.values()) {
      if (bytes() + coming <= maxBytes && live.size + coming <= maxEntries) return
      evict(entry)
    }
  }

  /** Not for who asks: files are closed a little later. The next has it. */
  function makeRoomOnDisk(lacking: number): void {
    let left = lacking
    for (const entry of listed.values()) {
      if (left <= 0) return
      if (evict(entry)) left -= entry.written
    }
  }

  function evict(entry: Entry): boolean {
    if (entry.readers.size > 0 || entry.state === 'writing') return false
    unlist(entry)
    disposeIfUnused(entry)
    return true
  }

  function unlist(entry: Entry): void {
    if (isListed(entry)) listed.delete(entry.key)
  }

  function disposeIfUnused(entry: Entry): void {
    if (isListed(entry) || entry.readers.size > 0 || entry.state === 'writing' || !live.delete(entry)) return
    entry.file.then((file) => file.close()).catch(() => {})
  }

  function close(): void {
    for (const entry of live) {
      unlist(entry)
      entry.abort.abort(new Error('the cache is closed'))
      notify(entry)
      disposeIfUnused(entry)
    }
  }

  return {
    read,
    readWritten,
    close,
    maxEntryBytes: capacity,
    get bytes() {
      return bytes()
    },
    get entries() {
      return listed.size
    },
  }
}

async function* readDirectly(
  produce: Produce,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const left = new AbortController()
  try {
    for await (const chunk of produce(AbortSignal.any([left.signal, ...(signal ? [signal] : [])])))
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  } finally {
    left.abort()
  }
}
