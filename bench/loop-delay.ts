import type { Running } from './processes.ts'

/** Between the looks of whoever measures, which are in what is measured. */
const RESOLUTION_MS = 10

const watched = new Set<Running>()
let worstMs = 0

/** Has the event loop of a Trellis measured until it is stopped. */
export function watchLoop(trellis: Running): Running {
  watched.add(trellis)
  return {
    ...trellis,
    async stop() {
      watched.delete(trellis)
      await look(trellis)
      await trellis.stop()
    },
  }
}

/**
 * How late the event loops came to their work in all but one of a hundred cases, where it was worst, since this was last
 * asked.
 */
export async function takeLoopDelayMs(): Promise<number> {
  for (const trellis of watched) await look(trellis)
  const taken = worstMs
  worstMs = 0
  return taken
}

/** The server forgets what it has told. */
async function look({ url }: Running): Promise<void> {
  const response = await fetch(`${url}/metrics`).catch(() => undefined)
  const [, seconds] =
    /^trellis_nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec((await response?.text()) ?? '') ?? []
  if (seconds) worstMs = Math.max(worstMs, Number(seconds) * 1000 - RESOLUTION_MS)
}
