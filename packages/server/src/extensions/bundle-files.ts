import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Sha256, sha256 } from '../platform/hashes.ts'
import type { Bundle } from './builder.ts'

const STORED = /^[0-9a-f]{64}\.js(\.map)?$/

/** What is stored under a hash is not what has that hash. */
export class BundleDamaged extends Error {
  override readonly name = 'BundleDamaged'
  constructor(hash: string) {
    super(`the stored bundle ${hash} has other bytes than it was stored with`)
  }
}

export type BundleFiles = ReturnType<typeof createBundleFiles>

/** Bundles and their source maps, by the hash of the bundle. What is missing can be built again. */
export function createBundleFiles(dataDir: string) {
  const root = join(dataDir, 'bundles')
  const fileOf = (hash: string) => {
    const hex = hash.replace(/^sha256:/, '')
    return join(root, hex.slice(0, 2), `${hex}.js`)
  }

  /** Whole or not at all, also when the machine stops. */
  async function write(file: string, bytes: Uint8Array): Promise<void> {
    const unfinished = `${file}.${randomBytes(6).toString('hex')}`
    await using handle = await open(unfinished, 'wx', 0o600)
    await handle.writeFile(bytes)
    await handle.sync()
    await rename(unfinished, file)
  }

  return {
    /** Gives the hash it is stored under. What is stored there already is left as it is. */
    async put({ code, sourceMap }: Bundle): Promise<Sha256> {
      const hash = sha256(code)
      const file = fileOf(hash)
      if (await isThere(file)) return hash
      await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
      await write(`${file}.map`, sourceMap)
      await write(file, code)
      return hash
    },

    /** Throws BundleDamaged. */
    async find(hash: string): Promise<Buffer | undefined> {
      const code = await readFile(fileOf(hash)).catch(unlessMissing)
      if (code && sha256(code) !== hash) throw new BundleDamaged(hash)
      return code
    },

    /** Where its lines come from; a bundle can do without. */
    findSourceMap: async (hash: string): Promise<string | undefined> =>
      (await readFile(`${fileOf(hash)}.map`).catch(unlessMissing))?.toString(),

    /**
     * The hashes of all that was stored before `before`, in Unix milliseconds, folder by folder. What a crash left
     * unfinished before then is removed.
     */
    async *listOlderThan(before: number): AsyncGenerator<string[]> {
      for (const folder of (await readdir(root).catch(unlessMissing)) ?? []) {
        const hashes: string[] = []
        for (const name of await readdir(join(root, folder))) {
          const { mtimeMs } = (await stat(join(root, folder, name)).catch(unlessMissing)) ?? {
            mtimeMs: before,
          }
          if (mtimeMs >= before) continue
          if (STORED.test(name)) hashes.push(`sha256:${name.slice(0, 64)}`)
          else await rm(join(root, folder, name), { force: true })
        }
        if (hashes.length > 0) yield [...new Set(hashes)]
      }
    },

    async remove(hash: string): Promise<void> {
      await rm(fileOf(hash), { force: true })
      await rm(`${fileOf(hash)}.map`, { force: true })
    },
  }
}

const isThere = async (file: string) => (await stat(file).catch(unlessMissing)) !== undefined

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
