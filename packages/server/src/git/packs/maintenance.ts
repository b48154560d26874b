// Keeps reading fast as pushes add packs. Nothing here removes or changes a pack: a fold makes a new one, the
// caller lists it in place of those it holds, and removes those when nobody reads them any more.

import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FilePath, type Oid, parseFilePath } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'

/** Each pack that stays is at least this many times as large as all smaller ones together. */
const GROWTH_FACTOR = 2
/** Fewer packs than this are not worth it. */
const MIN_FOLDED = 4

/**
 * The packs to fold into one, so that the sizes of what is left grow geometrically: the number of packs stays
 * logarithmic, and a byte is rewritten only a logarithmic number of times.
 */
export function planFold<Pack extends { bytes: number }>(packs: readonly Pack[]): Pack[] {
  const sorted = packs.toSorted((a, b) => a.bytes - b.bytes)
  let smaller = 0
  let count = 0
  for (const [i, pack] of sorted.entries()) {
    if (pack.bytes < GROWTH_FACTOR * smaller) count = i + 1
    smaller += pack.bytes
  }
  return count >= MIN_FOLDED ? sorted.slice(0, count) : []
}

interface FoldRequest {
  /** Ids of packs in the repository, as in `pack-<id>.pack`. */
  fold: readonly string[]
  /** Packs that stay; what they hold is left out of the new one. */
  keep: readonly string[]
  /** An object directory; its `pack` folder receives the new pack. */
  scratch: string
}

/** Says whether there is a new pack: none is made when the kept packs hold everything. */
export async function foldPacks(repo: OpenRepo, request: FoldRequest): Promise<boolean> {
  const { fold, keep, scratch } = request
  const packDir = join(scratch, 'pack')
  await mkdir(packDir, { recursive: true })
  await repo.run({
    verb: 'pack-objects',
    work: 'upkeep',
    options: ['--stdin-packs', '--delta-base-offset', '--non-empty', '-q', '--threads=1'],
    values: [absolute(join(packDir, 'pack'))],
    config: { 'pack.windowMemory': '128m', 'core.bigFileThreshold': '32m' },
    stdin: [...fold.map(packFile), ...keep.map((id) => `^${packFile(id)}`)]
      .map((line) => `${line}\n`)
      .join(''),
  })
  return (await readdir(packDir)).some((name) => name.endsWith('.idx'))
}

/**
 * Writes the multi-pack index with bitmaps, and the commit-graph, for what the tips reach. Both replace their
 * files at once, so readers see the old or the new. Call it when the packs are in place and nobody removes any.
 */
export async function writeIndexes(repo: OpenRepo, tips: readonly Oid[], scratch: string): Promise<void> {
  const lines = tips.map((oid) => `${oid}\n`).join('')
  const snapshot = join(scratch, 'tips')
  await mkdir(scratch, { recursive: true })
  await writeFile(snapshot, lines)
  try {
    await repo.run({
      verb: 'multi-pack-index',
      options: ['write', '--bitmap', '--no-progress', `--refs-snapshot=${snapshot}`],
      config: { 'pack.threads': '1' },
    })
  } finally {
    await rm(snapshot, { force: true })
  }
  await repo.run({
    verb: 'commit-graph',
    // Path filters make `log -- path` fast; the bound keeps one run over a new history short.
    options: ['write', '--stdin-commits', '--changed-paths', '--max-new-filters=20000', '--no-progress'],
    stdin: lines,
  })
}

function packFile(id: string): string {
  if (!/^[0-9a-f]{40}$/.test(id)) throw new RangeError('not a pack id')
  return `pack-${id}.pack`
}

function absolute(path: string): FilePath {
  const parsed = parseFilePath(path)
  if (!parsed) throw new RangeError('not an absolute path')
  return parsed
}
