// A pack that is still on its way is kept until all of it is here, so that no git process, and no place for one, waits
// for a client. A small one stays in memory.

import { randomBytes } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { InputFile } from '../process/feed.ts'
import { PackRejected } from './intake.ts'

const KEPT_IN_MEMORY = 1024 * 1024
const NO_ROOM_BESIDE = 'with what else is being pushed there is no room left: push again when that is done'

/** A pack all of which is here. */
export interface WholePack {
  input: AsyncIterable<Uint8Array> | InputFile
  /** All of a small one, which will not take long. */
  inMemory?: readonly Uint8Array[]
}

interface Bounds {
  /** Where it is kept. */
  dir: string
  maxBytes: number
  /** Sets room aside for what has come; false when there is none. */
  takeRoom(bytes: number): boolean
  signal: AbortSignal
}

/** Takes all of a pack, then runs `work` with it. What was kept is gone afterwards. Throws PackRejected. */
export async function withWholePack<T>(
  pack: AsyncIterable<Uint8Array>,
  { dir, signal, ...bounds }: Bounds,
  work: (pack: WholePack) => Promise<T>,
): Promise<T> {
  const source = bounded(pack, bounds)[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let size = 0
  for (;;) {
    const next = await source.next()
    if (next.done) return work({ input: chunksOf(first), inMemory: first })
    first.push(next.value)
    size += next.value.length
    if (size > KEPT_IN_MEMORY) break
  }
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const path = join(dir, `pack-${randomBytes(12).toString('hex')}`)
  const file = await open(path, 'wx', 0o600)
  try {
    for (const chunk of first) await file.write(chunk)
    for (let next = await source.next(); !next.done; next = await source.next()) {
      signal.throwIfAborted()
      await file.write(next.value)
    }
    return await work({ input: { file: path } })
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

async function* chunksOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function* bounded(
  pack: AsyncIterable<Uint8Array>,
  { maxBytes, takeRoom }: Pick<Bounds, 'maxBytes' | 'takeRoom'>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of pack) {
    bytes += chunk.length
    if (bytes > maxBytes)
      throw new PackRejected(
        maxBytes > 0
          ? `the pack is larger than ${maxBytes} bytes`
          : 'there is no room left: the repository or its organization has all the bytes it may have',
      )
    if (!takeRoom(chunk.length)) throw new PackRejected(NO_ROOM_BESIDE)
    yield chunk
  }
}
