// Reads large JSON in a thread of its own, so that nobody waits for it but its sender.

import { parentPort } from 'node:worker_threads'
import { type JsonBounds, shapeOf } from './json-shape.ts'

/**
 * Values have to be taken over from here, and that takes longer than to read them where there are many: 50 ms for 45,000
 * small objects, of which JSON.parse makes 5. It is strings that are read here for good, which take up this much and more.
 */
const BYTES_A_VALUE = 200

interface Asked {
  id: number
  bytes: Uint8Array<ArrayBuffer>
  bounds: JsonBounds
}

parentPort?.on('message', ({ id, bytes, bounds }: Asked) => {
  const answer = read(bytes, bounds)
  parentPort?.postMessage({ id, ...answer }, 'unread' in answer ? [bytes.buffer] : [])
})

type Answer = { value: unknown } | { problem: string } | { unread: Uint8Array }

function read(bytes: Uint8Array, bounds: JsonBounds): Answer {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const { values, problem } = shapeOf(text, bounds)
    if (problem !== undefined) return { problem: `has ${problem}` }
    return values * BYTES_A_VALUE > bytes.length ? { unread: bytes } : { value: JSON.parse(text) }
  } catch (error) {
    return { problem: `is not valid JSON: ${error instanceof Error ? error.message : error}` }
  }
}
