import { createPauses } from './pauses.ts'
import { slicesOf } from './slices.ts'

/** One buffer of many, in pieces that let others in between: tens of megabytes take that many milliseconds. */
export async function joined(chunks: readonly Uint8Array[]): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0))
  const pause = createPauses()
  let at = 0
  for (const chunk of chunks)
    for (const slice of slicesOf(chunk)) {
      whole.set(slice, at)
      at += slice.length
      await pause()
    }
  return whole
}
