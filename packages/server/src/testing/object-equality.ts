// For tests: every object of a repository, as git reads it and as the server does from the same packs.

import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Oid } from '../git/names.ts'
import { createOpenedPacks } from '../git/packs/opened-packs.ts'
import { createLocalPackStore, type PackStore } from '../git/packs/pack-store.ts'
import { createPackedObjects } from '../git/packs/packed-objects.ts'
import { createSight, type Sight } from '../git/packs/sight.ts'
import { Unusual } from '../git/packs/unusual.ts'
import { createByteSource } from '../git/process/byte-source.ts'
import { createPauses } from '../platform/pauses.ts'
import { createShares } from '../platform/shares.ts'

export interface StoredPacks extends Disposable {
  store: PackStore
  packIds: string[]
}

/** Takes the packs of a git directory into a store of its own. */
export async function storePacks(gitDir: string): Promise<StoredPacks> {
  const root = mkdtempSync(join(tmpdir(), 'trellis-packs-'))
  const store = createLocalPackStore(join(root, 'store'))
  const packIds: string[] = []
  const from = join(gitDir, 'objects/pack')
  const names = readdirSync(from).filter((name) => name.endsWith('.idx'))
  for (const name of names.map((file) => file.slice(0, -'.idx'.length))) {
    const objectsDir = join(root, name)
    mkdirSync(join(objectsDir, 'pack'), { recursive: true })
    for (const part of ['.pack', '.idx'])
      copyFileSync(join(from, name + part), join(objectsDir, 'pack', name + part))
    packIds.push((await store.adopt(objectsDir)).packId)
    rmSync(objectsDir, { recursive: true, force: true })
  }
  return { store, packIds, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

interface SightOptions {
  store: Pick<PackStore, 'openPack'>
  listPacks(): readonly string[]
  maxBytes?: number
}

export function openSight({ store, listPacks, maxBytes = 64 * 1024 * 1024 }: SightOptions): Sight {
  const bounds = { maxBytes, maxBytesEach: maxBytes }
  const pages = createShares<Buffer>({ max: maxBytes, maxEach: maxBytes, weightOf: ({ length }) => length })
  const opened = createOpenedPacks({ store, pages, ...bounds })
  const sight = createSight({
    opened,
    objects: createPackedObjects(bounds),
    owner: 'somebody',
    listPacks: async () => listPacks(),
    pause: createPauses(),
  })
  const dispose = () => {
    sight[Symbol.dispose]()
    opened.close()
  }
  return { ...sight, [Symbol.dispose]: dispose }
}

interface Comparison {
  objects: number
  bytes: number
  /** Left to git, by the reason. */
  unusual: Map<string, number>
  different: string[]
}

export async function compareObjects(gitDir: string, sight: Sight): Promise<Comparison> {
  const git = spawn('git', ['cat-file', '--batch-all-objects', '--batch', '--buffer'], {
    cwd: gitDir,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const theirs = createByteSource(git.stdout)
  const found: Comparison = { objects: 0, bytes: 0, unusual: new Map(), different: [] }
  for (let line = await theirs.line(); line; line = await theirs.line()) {
    const [oid, type, size] = line.split(' ')
    const bytes = await theirs.bytes(Number(size), Number(size))
    await theirs.bytes(1, 0)
    found.objects++
    found.bytes += bytes.length
    try {
      const info = await sight.findInfo(oid as Oid)
      const isSameInfo = info?.type === type && info?.size === bytes.length
      const ours = await sight.find(oid as Oid)
      const isSame = isSameInfo && ours?.type === type && ours?.bytes.equals(bytes)
      if (!isSame) found.different.push(oid ?? '')
    } catch (error) {
      if (!(error instanceof Unusual)) throw error
      found.unusual.set(error.message, (found.unusual.get(error.message) ?? 0) + 1)
    }
  }
  return found
}
