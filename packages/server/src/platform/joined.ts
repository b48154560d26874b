import { createPauses } from './pauses.ts'

/** One buffer of many, in pieces that let others in between: tens of megabytes take that many milliseconds. */
export async function joined(chunks: readonly Uint8Array[]): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0))
  const pause = createPauses()
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
    await pause()
  }
  return whole
}
