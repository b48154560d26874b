import { joined } from '../platform/joined.ts'
import { createPauses } from '../platform/pauses.ts'

/** A multiple of four: so many characters stand for three bytes each. */
const SLICE = 1024 * 1024

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

/** Node skips what is not base64; a file that comes out shorter than it went in is worse than a refusal. */
function decodeExactly(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return !text.includes('=') && bytes.toString('base64').startsWith(text) ? bytes : undefined
}

/** Where the padding begins. */
function endOf(text: string): number {
  let end = text.length
  while (end > 0 && /[=\s]/.test(text[end - 1] ?? '')) end--
  return end
}
