// Hands a process its input.

import type { Writable } from 'node:stream'

/** All at once, or as it comes. */
export type Input = Uint8Array | string | AsyncIterable<Uint8Array>

/** A file that a process reads itself, past this one. */
export interface InputFile {
  file: string
}

export const isInputFile = (stdin: unknown): stdin is InputFile =>
  typeof stdin === 'object' && stdin !== null && 'file' in stdin

/**
 * Writes no faster than git reads. A git that stops reading is judged by its exit code, not by the broken pipe.
 * Without a source the caller writes. A source that fails is reported to `fail`.
 */
export function feed(pipe: Writable, source: Input | undefined, fail: (error: unknown) => void): void {
  pipe.on('error', () => {})
  if (source === undefined) return
  if (typeof source === 'string' || source instanceof Uint8Array) {
    pipe.end(source)
    return
  }
  void pump(source, pipe).catch((error: unknown) => {
    fail(error)
    pipe.destroy()
  })
}

async function pump(source: AsyncIterable<Uint8Array>, pipe: Writable): Promise<void> {
  for await (const chunk of source) {
    if (pipe.destroyed) return
    if (!pipe.write(chunk)) await drained(pipe)
  }
  pipe.end()
}

function drained(pipe: Writable): Promise<void> {
  return new Promise((resolve) => {
    const ready = () => {
      pipe.off('drain', ready).off('close', ready)
      resolve()
    }
    pipe.on('drain', ready).on('close', ready)
    if (pipe.destroyed) ready()
  })
}
