import type { Log } from './platform/log.ts'

const EVERY_MS = 10 * 60_000

interface Expiry {
  run(): Promise<void>
  stop(): Promise<void>
}

/** Removes, now and then, what has come to its end. The steps run in their order; one that fails stops no other. */
export function createExpiry(steps: Record<string, () => Promise<void>>, log: Log): Expiry {
  let running: Promise<void> = Promise.resolve()

  async function once(): Promise<void> {
    for (const [name, step] of Object.entries(steps))
      await step().catch((error: unknown) =>
        log.error('removing what has expired failed', { step: name, error }),
      )
  }

  const run = () => {
    running = running.then(once)
    return running
  }
  const timer = setInterval(run, EVERY_MS).unref()
  return {
    run,
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
