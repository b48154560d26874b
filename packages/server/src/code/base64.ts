import { joined } from '../platform/joined.ts'
import { createPauses } from '../platform/pauses.ts'

/** A multiple of four: so many characters stand for three bytes each. */
const SLICE = 256 * 1024

/** Decodes a little at a time, so that others get their turn. Undefined for what is not base64, in one line or several. */
export async function decodeBase64(text: string): Promise<Buffer | undefined> {
  const pause = createPauses()
  const end = endOf(text)
  const decoded: Buffer[] = []
  let rest = ''
  for (let at = 0; at < end; at += SLICE) {
    const characters = rest + text.slice(at, Math.min(at + SLICE, end)).replace(/\s+/g, '')
    const whole = characters.length - (characters.length % 4)
    const bytes = decodeExactly(characters.slice(0, whole))
    if (!bytes) return undefined
    decoded.push(bytes)
    rest = characters.slice(whole)
    await pause()
  }
  const last = decodeExactly(rest)
  return last && joined([...decoded, last])
}

/**
 * Node skips what is not base64, reads the other alphabet too and forgets bits that are too many; a file that comes out
 * other than it went in is worse than a refusal. What was skipped is missing at the end, so not all is written again.
 */
function decodeExactly(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  const isWhole = bytes.length === Math.floor((text.length * 3) / 4)
  const lastBytes = bytes.subarray(bytes.length - (bytes.length % 3 || 3))
  const isExact = lastBytes.toString('base64').startsWith(text.slice(text.length - (text.length % 4 || 4)))
  return isWhole && isExact && !/[-_=]/.test(text) ? bytes : undefined
}

/** Where the padding begins. */
function endOf(text: string): number {
  let end = text.length
  while (end > 0 && /[=\s]/.test(text[end - 1] ?? '')) end--
  return end
}
