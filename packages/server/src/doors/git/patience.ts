import { isWhole } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'

/** Slower than any line people work over; after some time to get going. */
const LEAST_BYTES_PER_SECOND = 512
const GRACE_MS = 30_000
/** However steadily it comes. */
const LONGEST_MS = 2 * 60 * 60_000
const LOOK_EVERY_MS = 5_000
/** For as much as a socket holds back. */
const DRAIN_MS = 120_000

/** Hangs up on a client whose body does not come, or comes a byte at a time: it would hold what is kept for it. */
export function watchBody({ request, response }: Exchange): void {
  const { socket } = request
  const began = performance.now()
  const before = socket.bytesRead
  const timer = setInterval(() => {
    if (isWhole(request)) return clearInterval(timer)
    const ms = performance.now() - began
    const isSlow = ms > GRACE_MS && socket.bytesRead - before < (ms / 1000) * LEAST_BYTES_PER_SECOND
    if (isSlow || ms > LONGEST_MS) socket.destroy()
  }, LOOK_EVERY_MS).unref()
  response.once('close', () => clearInterval(timer))
}

/** Resolves when the client has taken what was sent so far, or is gone; one that takes nothing is hung up on. */
export function drained(response: Exchange['response']): Promise<void> {
  return new Promise((resolve) => {
    const impatient = setTimeout(() => response.destroy(), DRAIN_MS)
    const go = () => {
      clearTimeout(impatient)
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })
}
