import type { Exchange } from '../http/exchange.ts'

/** For as much as a socket holds back. */
const DRAIN_MS = 120_000

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
