// Keeps reading fast as pushes add packs, and leaves out what nobody reaches. Nothing here removes or changes a pack:
// a new one is made, the caller lists it in place of others, and removes those when nobody reads them any more.

import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FilePath, type Oid, parseFilePath } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'

/** Each pack that stays is at least this many times as large as all smaller ones together. */
const GROWTH_FACTOR = 2
/** More than the largest repository has. */
const MAX_OBJECTS = 256 * 1024 * 1024
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
export async function foldPacks(repo: OpenRepo, { fold, keep, scratch }: FoldRequest): Promise<boolean> {
  return writePack(repo, scratch, {
    from: '--stdin-packs',
    lines: [...fold.map(packFile), ...keep.map((id) => `^${packFile(id)}`)],
  })
}

/** Makes a pack of all that the tips reach, and of nothing else. Says whether that is anything. */
export async function packReachable(repo: OpenRepo, tips: readonly Oid[], scratch: string): Promise<boolean> {
  return writePack(repo, scratch, { from: '--revs', lines: tips })
}

async function writePack(
  repo: OpenRepo,
  scratch: string,
  { from, lines }: { from: '--stdin-packs' | '--revs'; lines: readonly string[] },
): Promise<boolean> {
  const packDir = join(scratch, 'pack')
  await mkdir(packDir, { recursive: true })
  await repo.run({
    verb: 'pack-objects',
    work: 'upkeep',
    options: [from, '--delta-base-offset', '--non-empty', '-q', '--threads=1'],
    values: [absolute(join(packDir, 'pack'))],
    // What git has not finished stays where it began, beside its own objects: that has to be the caller's to remove.
    quarantine: { objectsDir: scratch },
    config: { 'pack.windowMemory': '128m', 'core.bigFileThreshold': '32m' },
    stdin: lines.map((line) => `${line}\n`).join(''),
  })
  return (await readdir(packDir)).some((name) => name.endsWith('.idx'))
}

/** How many different objects there are in all packs. */
export async function countObjects(repo: OpenRepo): Promise<number> {
  const { stdout } = await repo.run({
    verb: 'cat-file',
    work: 'upkeep',
    // A line each, with nothing in it.
    options: ['--batch-all-objects', '--batch-check=', '--unordered', '--buffer'],
    maxBytes: MAX_OBJECTS,
  })
  return stdout.length
}

/** How many objects the tips reach, and what these take in the packs. */
export async function measureReachable(
  repo: OpenRepo,
  tips: readonly Oid[],
): Promise<{ objects: number; bytes: number }> {
  const ask = async (what: '--count' | '--disk-usage') => {
    const { stdout } = await repo.run({
      verb: 'rev-list',
      work: 'upkeep',
      options: [what, '--objects', '--use-bitmap-index', '--stdin'],
      stdin: tips.map((oid) => `${oid}\n`).join(''),
    })
    return Number(stdout)
  }
  return tips.length === 0
    ? { objects: 0, bytes: 0 }
    : { objects: await ask('--count'), bytes: await ask('--disk-usage') }
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
