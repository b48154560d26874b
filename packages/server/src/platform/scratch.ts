import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'

/** How often a process must say that it still uses its directory. */
export const SCRATCH_BEAT_MS = 60_000
const DEAD_AFTER_MS = 15 * SCRATCH_BEAT_MS

/** A directory of this process alone, below one that processes may share. Nothing in it is needed after a restart. */
export interface Scratch {
  path: string
  /** Says that it is still in use. */
  beat(): Promise<void>
  /** Removes what processes left that are no more. */
  sweep(): Promise<void>
  remove(): Promise<void>
}

/**
 * Working directories must not be shared, and a process that is killed cannot clean up. So each has its own, touches it
 * now and then, and removes those that nobody has touched for a while; process ids would lie across containers.
 */
export async function claimScratch(parent: string): Promise<Scratch> {
  const name = randomBytes(8).toString('hex')
  const path = join(parent, name)
  await mkdir(path, { recursive: true, mode: 0o700 })
  return {
    path,

    beat: () => utimes(path, new Date(), new Date()),

    async sweep() {
      for (const other of await readdir(parent)) {
        if (other === name) continue
        const touched = await stat(join(parent, other)).catch(() => undefined)
        if (touched && Date.now() - touched.mtimeMs > DEAD_AFTER_MS)
          await rm(join(parent, other), { recursive: true, force: true })
      }
    },

    // What is just ending may still write there.
    remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}
