// Reads large bodies in a thread of its own, so that nobody waits for them but their sender.

import { parentPort } from 'node:worker_threads'

/**
 * How many values a large body may have. What makes a body large is what is in its strings; the same bytes spent on
 * brackets take a minute to read, and gigabytes to hold.
 */
const MAX_VALUES = 300_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Brackets, braces and commas: there are no more values than these, and one. */
const OPENS_OR_PARTS = new Set([0x5b, 0x7b, 0x2c])

parentPort?.on('message', ({ id, bytes }: { id: number; bytes: Uint8Array }) => {
  parentPort?.postMessage({ id, ...read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) })
})

function read(bytes: Buffer): { value: unknown } | { problem: string } {
  if (hasTooMany(bytes)) return { problem: `The body has more than ${MAX_VALUES} values` }
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch (error) {
    return { problem: `The body is not valid JSON: ${error instanceof Error ? error.message : error}` }
  }
}

function hasTooMany(bytes: Buffer): boolean {
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (OPENS_OR_PARTS.has(byte) && ++values > MAX_VALUES) return true
  }
  return false
}

/** Where the string that begins here ends. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return bytes.length
}
