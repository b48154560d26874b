// Lines out of what processes of a run write, which may be anything.

import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

const NEWLINE = 10

interface LineOptions {
  /** What is longer is cut; what was cut is not kept. */
  maxBytes: number
  /** A line, and how many of its bytes are missing. */
  onLine(line: string, cut: number): void
  /** Called with all there is. */
  onChunk?(chunk: Buffer): void
  /** Whether somebody still wants lines: to find them costs far more than to read. */
  isWanted?(): boolean
}

/** Resolves when there is no more. */
export function readLines(stream: Readable, options: LineOptions): Promise<void> {
  const { maxBytes, onLine, onChunk, isWanted = () => true } = options
  let pieces: Buffer[] = []
  let kept = 0
  let cut = 0

  function take(piece: Buffer): void {
    const room = maxBytes - kept
    if (room > 0) pieces.push(piece.subarray(0, room))
    kept += Math.min(room, piece.length)
    cut += Math.max(0, piece.length - room)
  }

  function endLine(): void {
    const bytes = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
    // The last character may have been cut in two.
    const line = cut > 0 ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8')
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line, cut)
    pieces = []
    kept = 0
    cut = 0
  }

  stream.on('data', (chunk: Buffer) => {
    onChunk?.(chunk)
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && isWanted(); at = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, at))
      endLine()
      from = at + 1
    }
    if (from < chunk.length && isWanted()) take(chunk.subarray(from))
  })
  return new Promise((resolve) => {
    stream.on('error', () => {})
    stream.on('close', () => {
      if (kept + cut > 0 && isWanted()) endLine()
      resolve()
    })
  })
}
