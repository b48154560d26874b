// A spool that git itself writes into, past this process: its answers come in chunks of 8 KiB, each of which would cost
// the server more than its bytes. Readers follow the file as it grows, and what several of them are at at the same time
// is read once.

import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_SHARED_BYTES, SharedBuffer } from './shared-buffers.ts'
import { notify, openSpool, type Spool } from './spool.ts'
import { ANSWER_START, isAnswer } from './upload-pack.ts'

export interface WrittenSpool extends Spool {
  /** Stretches of the file that were read last, by position. */
  readonly stretches: Map<number, Stretch>
}

interface Stretch {
  buffer: SharedBuffer
  isRead: Promise<void>
}

/** Writes a whole answer from the start of a file, and is done when nobody writes to it any more. */
export type WriteAnswer = (file: FileHandle, signal: AbortSignal) => Promise<void>

export const openWrittenSpool = (dir: string, capacity: number): WrittenSpool => ({
  ...openSpool(dir, capacity),
  stretches: new Map(),
})

/** How soon a file is looked at again that has grown, and one that has not for long. */
const SHORTEST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 50

/** Has the answer written. `onGrowth` is called whenever there is more of it. */
export async function fillByWriting(
  spool: WrittenSpool,
  write: WriteAnswer,
  onGrowth: () => void,
): Promise<void> {
  const file = await spool.file
  let isWriting = true
  const writing = write(file, spool.abort.signal).finally(() => {
    isWriting = false
  })
  try {
    let pause = SHORTEST_PAUSE_MS
    let isAnswer = false
    while (isWriting) {
      await Promise.race([writing, sleep(pause)])
      isAnswer ||= await beginsAnAnswer(file)
      const hasGrown = isAnswer && (await takeNote(spool, file))
      if (hasGrown) onGrowth()
      pause = hasGrown ? SHORTEST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
    // The end may have been written after the last look.
    await writing
    await takeNote(spool, file)
  } catch (error) {
    spool.abort.abort(error)
    await writing.catch(() => {})
    throw error
  }
  spool.abort.signal.throwIfAborted()
}

/** A refusal is told as such when git has ended, which may be long after it was written. */
async function beginsAnAnswer(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(ANSWER_START), 0, ANSWER_START, 0)
  return isAnswer(buffer.subarray(0, bytesRead))
}

/** Says whether the file has grown. */
async function takeNote(spool: WrittenSpool, file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
  if (size > spool.capacity) spool.abort.abort(new Error('an answer is larger than its place'))
  const hasGrown = size > spool.written
  spool.written = size
  spool.filed = size
  if (hasGrown) notify(spool)
  return hasGrown
}

const STRETCH_BYTES = MAX_SHARED_BYTES
/** Readers that start together stay together for the most part. */
const KEPT_STRETCHES = 16
/**
 * How long less than a stretch waits for more: a person who waits reads how far git is, and a client that hears nothing
 * hangs up.
 */
const PATIENCE_MS = 500

/** The answer from its beginning. Fails as soon as the spool does. Its chunks may be released with `releaseChunk`. */
export async function* followWritten(
  spool: WrittenSpool,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const reader = { position: 0 }
  const wake = () => notify(spool)
  spool.readers.add(reader)
  signal?.addEventListener('abort', wake)
  try {
    const file = await spool.file
    let due = 0
    for (;;) {
      signal?.throwIfAborted()
      if (typeof spool.state === 'object') throw spool.state.failed
      const isComplete = spool.state === 'complete'
      const available = spool.written - reader.position
      if (available === 0) {
        if (isComplete) return
        await spool.changed.promise
        due = performance.now() + PATIENCE_MS
      } else if (available >= STRETCH_BYTES || isComplete || performance.now() >= due) {
        const { buffer, isRead } = stretchAt(spool, file, reader.position)
        // For this reader; whoever takes the chunk releases it.
        buffer.hold()
        await isRead
        reader.position += buffer.bytes.length
        yield buffer.bytes
        due = performance.now() + PATIENCE_MS
      } else await changesBefore(spool, due)
    }
  } finally {
    signal?.removeEventListener('abort', wake)
    spool.readers.delete(reader)
    if (spool.readers.size === 0) for (const position of spool.stretches.keys()) drop(spool, position)
    notify(spool)
  }
}

async function changesBefore({ changed }: Spool, due: number): Promise<void> {
  const patience = Promise.withResolvers<void>()
  const timer = setTimeout(patience.resolve, due - performance.now())
  await Promise.race([changed.promise, patience.promise])
  clearTimeout(timer)
}

function stretchAt(spool: WrittenSpool, file: FileHandle, position: number): Stretch {
  let stretch = spool.stretches.get(position)
  if (!stretch) {
    const [oldest] = spool.stretches.keys()
    if (spool.stretches.size >= KEPT_STRETCHES && oldest !== undefined) drop(spool, oldest)
    stretch = readStretch(file, position, Math.min(STRETCH_BYTES, spool.written - position))
    stretch.isRead.catch(() => drop(spool, position))
    spool.stretches.set(position, stretch)
  }
  return stretch
}

function drop({ stretches }: WrittenSpool, position: number): void {
  const stretch = stretches.get(position)
  if (!stretch) return
  stretches.delete(position)
  // Nothing else may be read into its memory before.
  const release = () => stretch.buffer.release()
  stretch.isRead.then(release, release)
}

function readStretch(file: FileHandle, position: number, length: number): Stretch {
  const buffer = new SharedBuffer(length)
  const isRead = file.read(buffer.bytes, 0, length, position).then(({ bytesRead }) => {
    if (bytesRead !== length) throw new Error('a spool is shorter than what was written')
  })
  return { buffer, isRead }
}
