import { randomBytes } from 'node:crypto'
import { link, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type PackFile, PackMissing, type PackStore } from '../../git/packs/pack-store.ts'
import { claimScratch, SCRATCH_BEAT_MS } from '../../platform/scratch.ts'

interface HeldPacks extends AsyncDisposable {
  /** Has the files of a pack stay, whatever becomes of it in the store. Throws PackMissing. */
  hold(packId: string): Promise<PackFile[]>
}

/**
 * A pack that is folded into another goes after an hour, and copying all may take longer. So the files are linked first,
 * which takes no room and little time, into a place that is cleaned up should this process be killed.
 */
export async function holdPacks(packs: PackStore, dataDir: string): Promise<HeldPacks> {
  const scratch = await claimScratch(join(dataDir, 'scratch'))
  const beat = setInterval(() => void scratch.beat().catch(() => {}), SCRATCH_BEAT_MS)
  const folder = join(scratch.path, `held-${randomBytes(4).toString('hex')}`)

  async function holdFile(packId: string, file: PackFile): Promise<PackFile> {
    const held = join(folder, file.name)
    await mkdir(dirname(held), { recursive: true })
    try {
      await link(file.path, held)
      return { ...file, path: held }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new PackMissing(packId)
      // Some file systems have no links. Then the hour has to be enough.
      return file
    }
  }

  return {
    async hold(packId) {
      const files: PackFile[] = []
      for (const file of await packs.filesOf(packId)) files.push(await holdFile(packId, file))
      return files
    },
    async [Symbol.asyncDispose]() {
      clearInterval(beat)
      await scratch.remove()
    },
  }
}
