// Reads large JSON in a thread of its own, so that nobody waits for it but its sender.

import { parentPort } from 'node:worker_threads'
import { type JsonBounds, shapeProblem } from './json-shape.ts'

interface Asked {
  id: number
  bytes: Uint8Array
  bounds: JsonBounds
}

parentPort?.on('message', ({ id, bytes, bounds }: Asked) => {
  parentPort?.postMessage({ id, ...read(bytes, bounds) })
})

function read(bytes: Uint8Array, bounds: JsonBounds): { value: unknown } | { problem: string } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const problem = shapeProblem(text, bounds)
    return problem === undefined ? { value: JSON.parse(text) } : { problem: `has ${problem}` }
  } catch (error) {
    return { problem: `is not valid JSON: ${error instanceof Error ? error.message : error}` }
  }
}
