// Lines and counted bytes from a stream, in the order asked.

import type { Readable } from 'node:stream'

export function createByteSource(stream: Readable) {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let rest: Buffer = Buffer.alloc(0)

  async function more(): Promise<boolean> {
    const next = await chunks.next()
    if (next.done) return false
    rest = next.value
    return true
  }

  return {
    async line(): Promise<string | undefined> {
      const parts: Buffer[] = []
      for (;;) {
        const newline = rest.indexOf(0x0a)
        if (newline >= 0) {
          parts.push(rest.subarray(0, newline))
          rest = rest.subarray(newline + 1)
          return Buffer.concat(parts).toString('latin1')
        }
        parts.push(rest)
        if (!(await more())) return undefined
      }
    },
    /** Takes `count` bytes off the stream and gives back the first `keep` of them. */
    async bytes(count: number, keep: number): Promise<Buffer> {
      const parts: Buffer[] = []
      let wanted = Math.min(count, keep)
      let left = count
      while (left > 0) {
        if (rest.length === 0 && !(await more())) throw new Error('the stream ended early')
        const taken = rest.subarray(0, left)
        if (wanted > 0) parts.push(taken.subarray(0, wanted))
        wanted -= Math.min(wanted, taken.length)
        left -= taken.length
        rest = rest.subarray(taken.length)
      }
      return Buffer.concat(parts)
    },
  }
}
