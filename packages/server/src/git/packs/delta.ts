// A difference between two objects: the sizes of both, then what to copy from the base and what to insert.

import { damage } from './unusual.ts'

interface DeltaSizes {
  base: number
  result: number
  /** Where the instructions begin. */
  at: number
}

/** `delta` may be only its beginning. */
export function readDeltaSizes(delta: Buffer): DeltaSizes {
  let at = 0
  const next = () => {
    let size = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = delta[at++]
      if (byte === undefined || scale > 2 ** 49) throw damage('a difference without sizes')
      size += (byte & 0x7f) * scale
      if (!(byte & 0x80)) return size
    }
  }
  const base = next()
  const result = next()
  return { base, result, at }
}

/** The caller has seen to it that the result is of bearable size. */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const sizes = readDeltaSizes(delta)
  if (sizes.base !== base.length) throw damage('a difference to something else')
  const result = Buffer.allocUnsafeSlow(sizes.result)
  let at = sizes.at
  let filled = 0
  while (at < delta.length) {
    const code = delta[at++] as number
    if (code === 0) throw damage('an unknown instruction')
    const length = code & 0x80 ? 0 : code
    if (length) {
      if (at + length > delta.length || filled + length > result.length) throw damage('too much to insert')
      delta.copy(result, filled, at, at + length)
      at += length
      filled += length
      continue
    }
    let from = 0
    let count = 0
    for (let i = 0; i < 4; i++) if (code & (1 << i)) from += (delta[at++] ?? Number.NaN) * 2 ** (8 * i)
    for (let i = 0; i < 3; i++) if (code & (0x10 << i)) count += (delta[at++] ?? Number.NaN) * 2 ** (8 * i)
    if (count === 0) count = 0x10000
    if (!(from + count <= base.length && filled + count <= result.length)) throw damage('too much to copy')
    base.copy(result, filled, from, from + count)
    filled += count
  }
  if (filled !== result.length) throw damage('a difference that leaves something out')
  return result
}
