import { joined } from '../platform/joined.ts'
import { createPauses } from '../platform/pauses.ts'

const SLICE = 256 * 1024

/** The text as UTF-8, a little at a time, so that others get their turn. */
export async function encodeUtf8(text: string): Promise<Buffer> {
  if (text.length <= SLICE) return Buffer.from(text)
  const pause = createPauses()
  const encoded: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    const end = endOfSlice(text, at)
    encoded.push(Buffer.from(text.slice(at, end)))
    at = end
    await pause()
  }
  return joined(encoded)
}

/** Not between the two halves of one character. */
function endOfSlice(text: string, at: number): number {
  const end = Math.min(at + SLICE, text.length)
  const last = text.charCodeAt(end - 1)
  return end < text.length && last >= 0xd800 && last < 0xdc00 ? end - 1 : end
}
