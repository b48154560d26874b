// git writes its answers in chunks of 8 KiB. Each that goes its way through the server alone, to a disk and to a client,
// costs more than its bytes; those that go together share most of it.

import type { Readable } from 'node:stream'

const BURST_BYTES = 128 * 1024
/** How long a chunk may wait for others. */
const PATIENCE_MS = 1

/** Everything from a stream, many chunks joined to one, none held back for long. Fails when the stream does. */
export async function* inBursts(stream: Readable): AsyncGenerator<Buffer, void, undefined> {
  let chunks: Buffer[] = []
  let size = 0
  let isOver = false
  let failure: { error: unknown } | undefined
  let timer: NodeJS.Timeout | undefined
  let due = Promise.withResolvers<void>()
  const release = () => {
    clearTimeout(timer)
    timer = undefined
    due.resolve()
  }
  const onData = (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size >= BURST_BYTES) {
      stream.pause()
      release()
    } else timer ??= setTimeout(release, PATIENCE_MS)
  }
  const onError = (error: unknown) => {
    failure = { error }
    release()
  }
  const onClose = () => {
    isOver = true
    release()
  }
  stream.on('data', onData).on('error', onError).on('end', onClose).on('close', onClose)
  try {
    for (;;) {
      if (!isOver) await due.promise
      due = Promise.withResolvers()
      const burst = chunks
      chunks = []
      size = 0
      if (burst.length > 0) yield Buffer.concat(burst)
      if (failure) throw failure.error
      if (isOver && chunks.length === 0) return
      stream.resume()
    }
  } finally {
    clearTimeout(timer)
    stream.off('data', onData).off('error', onError).off('end', onClose).off('close', onClose)
    stream.destroy()
  }
}
