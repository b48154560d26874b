import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'

const BEAT_MS = 60_000
const DEAD_AFTER_MS = 15 * BEAT_MS

/** A directory of this process alone, below one that processes may share. Nothing in it is needed after a restart. */
export interface Scratch {
  path: string
  /** Removes what processes left that are no more. */
  sweep(): Promise<void>
  stop(): Promise<void>
}

/**
 * Working directories must not be shared, and a process that is killed cannot clean up. So each has its own, touches it
 * now and then, and removes those that nobody has touched for a while; process ids would lie across containers.
 */
export async function claimScratch(parent: string): Promise<Scratch> {
  const name = randomBytes(8).toString('hex')
  const path = join(parent, name)
  await mkdir(path, { recursive: true, mode: 0o700 })
  const beat = () => utimes(path, new Date(), new Date()).catch(() => {})
  const timer = setInterval(beat, BEAT_MS).unref()

  async function sweep(): Promise<void> {
    for (const other of await readdir(parent)) {
      if (other === name) continue
      const touched = await stat(join(parent, other)).catch(() => undefined)
      if (touched && Date.now() - touched.mtimeMs > DEAD_AFTER_MS)
        await rm(join(parent, other), { recursive: true, force: true })
    }
  }

  await sweep()
  return {
    path,
    sweep,
    async stop() {
      clearInterval(timer)
      await rm(path, { recursive: true, force: true })
    },
  }
}
