// Where packs live for good. A pack is written once under a fresh id and never changes; whether it counts is
// decided elsewhere, by listing its id. So a half-finished adoption is only garbage under an id nobody lists.

import { constants } from 'node:fs'
import {
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  symlink,
  unlink,
} from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { randomHex } from '../../platform/randomness.ts'
import { createSharedRuns } from '../../platform/shared-runs.ts'
import type { MadePack, PackBytes } from '../objects/pack-writer.ts'
import { syncPath } from './durable-files.ts'
import { createFreshPacks, type FreshPack } from './fresh-packs.ts'
import { createNewPacks } from './new-packs.ts'
import { isIntact, type Reading } from './pack-check.ts'

export interface PackInfo {
  packId: string
  bytes: number
  objects: number
}
export interface StoredPack {
  packId: string
  modifiedMs: number
}

/** What is wrong with a pack that is stored: it is shorter or longer than it was, or reads differently. */
export type PackDamage = 'size' | 'content'

export interface PackStore {
  /** Takes the one pack in `<objectsDir>/pack`. It is durable when this resolves; the originals may then go. */
  adopt(objectsDir: string): Promise<PackInfo>
  /** Takes a pack that is in memory. It is durable when this resolves; when it fails, nothing of it is left. */
  add(pack: PackBytes | MadePack): Promise<PackInfo>
  /** Removing what is not there is no error. */
  remove(packId: string): Promise<void>
  /** Everything stored, leftovers of broken adoptions included, in no order. */
  list(): AsyncIterable<StoredPack>
  /** The ids of what is stored with its index, some at a time and without a look at each file. */
  listIds(): AsyncIterable<string[]>
  /** The files of a pack, in the order of writing. Throws PackMissing when it is not stored. */
  filesOf(packId: string): Promise<PackFile[]>
  /** Compares with how much was stored, and with `reading` reads all of it. Throws PackMissing. */
  examine(pack: { id: string; bytes: number }, reading?: Reading): Promise<PackDamage | undefined>
  /** Makes the pack readable in a git object directory. Throws PackMissing when it is not stored. */
  linkInto(packId: string, packDir: string): Promise<void>
  /** Opens the pack to read some of it. Throws PackMissing when it is not stored. */
  openPack(packId: string): Promise<OpenPack>
  close(): Promise<void>
}

/** What is open can be read, even when it is removed. */
export interface OpenPack {
  readonly bytes: number
  readonly indexBytes: number
  /** Gives less where the pack ends before. */
  read(at: number, length: number): Promise<Buffer>
  readIndex(): Promise<Buffer>
  close(): Promise<void>
  /** What is in it, where that is known: nothing has to be read then. */
  readonly fresh?: FreshPack
}

export interface PackFile {
  path: string
  /** Below the folder of all packs: it is the same wherever packs are kept in files. */
  name: string
  bytes: number
}

/** A pack that is listed is not stored. */
export class PackMissing extends Error {
  override readonly name = 'PackMissing'
  constructor(packId: string) {
    super(`pack ${packId} is not in the store`)
  }
}

// In the order of writing: git looks for the index, so the index comes last, and goes first.
const PARTS = ['pack', 'rev', 'bitmap', 'idx'] as const
const PACKS_IN_A_ROW = 64
const isRequired = (part: string) => part === 'pack' || part === 'idx'

interface LocalPackStoreOptions {
  /** Their age goes by the same clock as that of their rows. */
  clock?: Clock
  /** Whether files for new packs are made before they are needed. */
  keepsSpares?: boolean
}

/** Keeps packs in files below `root`. */
export function createLocalPackStore(
  root: string,
  { clock = systemClock, keepsSpares = false }: LocalPackStoreOptions = {},
): PackStore {
  const packs = resolve(root, 'packs')
  const durableFolders = new Map<string, Promise<void>>()
  const syncFolder = createSharedRuns(syncPath)
  const fresh = createFreshPacks()
  let inFolder = { name: '', left: 0 }

  const folderOf = (packId: string) => join(packs, packId.slice(0, 2))
  const fileOf = (packId: string, part: string) => {
    if (!isPackId(packId)) throw new RangeError('not a pack id')
    return join(folderOf(packId), `${packId}.${part}`)
  }

  /** Some in a row go into the same folder: those that are stored at the same time are synced together. */
  function newPackId(): string {
    if (inFolder.left === 0) inFolder = { name: randomHex(1), left: PACKS_IN_A_ROW }
    inFolder.left--
    return inFolder.name + randomHex(19)
  }

  /** Parallel adoptions wait for the one that makes the folder, so none reports success before it is safe. */
  function makeFolder(folder: string): Promise<void> {
    let made = durableFolders.get(folder)
    if (!made) {
      made = mkdir(folder, { recursive: true, mode: 0o700 })
        .then(() => syncPath(packs))
        .then(() => syncPath(resolve(root)))
      durableFolders.set(folder, made)
      made.catch(() => durableFolders.delete(folder))
    }
    return made
  }

  const places = { newPackId, fileOf, folderOf, makeFolder, syncFolder }
  const newPacks = createNewPacks(places, { remove, clock, keepsSpares })

  async function adopt(objectsDir: string): Promise<PackInfo> {
    const source = await findOnlyPack(join(objectsDir, 'pack'))
    const packId = newPackId()
    await makeFolder(folderOf(packId))
    const placed: string[] = []
    for (const part of PARTS) {
      const target = fileOf(packId, part)
      const isThere = await place(`${source}.${part}`, target).catch((error: unknown) => {
        if (isRequired(part) || codeOf(error) !== 'ENOENT') throw error
        return false
      })
      if (isThere) placed.push(target)
    }
    // All at once: the file system writes its journal for several as for one.
    const sizes = await Promise.all([
      ...placed.map((file) => makeDurable(file, new Date(clock()))),
      syncFolder(folderOf(packId)).then(() => 0),
    ])
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    return { packId, bytes, objects: await countObjects(fileOf(packId, 'pack')) }
  }

  async function add(added: PackBytes | MadePack): Promise<PackInfo> {
    const packId = await newPacks.write(added)
    if ('entries' in added) fresh.keep(packId, added)
    return { packId, bytes: added.pack.length + added.idx.length, objects: added.objects }
  }

  async function remove(packId: string): Promise<void> {
    fresh.forget(packId)
    for (const part of PARTS.toReversed()) await unlink(fileOf(packId, part)).catch(unless('ENOENT'))
  }

  async function* list(): AsyncGenerator<StoredPack> {
    for (const folder of (await readdir(packs).catch(unless('ENOENT'))) ?? []) {
      const found = new Map<string, StoredPack>()
      for (const name of await readdir(join(packs, folder))) {
        const packId = name.slice(0, name.indexOf('.'))
        const details = isPackId(packId) && (await stat(join(packs, folder, name)).catch(unless('ENOENT')))
        if (!details) continue
        const latest = Math.max(found.get(packId)?.modifiedMs ?? 0, details.mtimeMs)
        found.set(packId, { packId, modifiedMs: latest })
      }
      yield* found.values()
    }
  }

  async function* listIds(): AsyncGenerator<string[]> {
    for (const folder of (await readdir(packs).catch(unless('ENOENT'))) ?? []) {
      const names = new Set(await readdir(join(packs, folder)))
      const ids: string[] = []
      for (const name of names) {
        const packId = name.slice(0, -'.idx'.length)
        if (name.endsWith('.idx') && isPackId(packId) && names.has(`${packId}.pack`)) ids.push(packId)
      }
      yield ids
    }
  }

  async function filesOf(packId: string): Promise<PackFile[]> {
    const files: PackFile[] = []
    for (const part of PARTS) {
      const path = fileOf(packId, part)
      const details = await stat(path).catch(unless('ENOENT'))
      if (details) files.push({ path, name: relative(packs, path), bytes: details.size })
      else if (isRequired(part)) throw new PackMissing(packId)
    }
    return files
  }

  async function examine(
    { id, bytes }: { id: string; bytes: number },
    reading?: Reading,
  ): Promise<PackDamage | undefined> {
    const files = await filesOf(id)
    if (files.reduce((sum, file) => sum + file.bytes, 0) !== bytes) return 'size'
    for (const { path } of reading ? files : []) if (!(await isIntact(path, reading ?? {}))) return 'content'
    return undefined
  }

  async function linkInto(packId: string, packDir: string): Promise<void> {
    for (const part of PARTS) {
      const source = fileOf(packId, part)
      if (await exists(source)) await linkOrCopy(source, join(packDir, `pack-${packId}.${part}`))
      else if (isRequired(part)) throw new PackMissing(packId)
    }
  }

  async function openPack(packId: string): Promise<OpenPack> {
    const known = fresh.open(packId)
    if (known) return known
    const openPart = (part: string) =>
      open(fileOf(packId, part), 'r').catch((error: unknown) => {
        throw codeOf(error) === 'ENOENT' ? new PackMissing(packId) : error
      })
    const pack = await openPart('pack')
    const index = await openPart('idx').catch(async (error: unknown) => {
      await pack.close()
      throw error
    })
    let isIndexOpen = true
    const closeIndex = async () => {
      if (!isIndexOpen) return
      isIndexOpen = false
      await index.close()
    }
    const close = async () => {
      await closeIndex()
      await pack.close()
    }
    try {
      const [{ size: bytes }, { size: indexBytes }] = [await pack.stat(), await index.stat()]
      return {
        bytes,
        indexBytes,
        read: (at, length) => readPart(pack, at, length),
        async readIndex() {
          const whole = await readPart(index, 0, indexBytes)
          // It is read once, and a file that stays open is one less for others.
          await closeIndex()
          return whole
        },
        close,
      }
    } catch (error) {
      await close()
      throw error
    }
  }

  const { close } = newPacks
  return { adopt, add, remove, list, listIds, filesOf, examine, linkInto, openPack, close }
}

const isPackId = (text: string) => /^[0-9a-f]{40}$/.test(text)

/** The path of the pack without its extension. */
async function findOnlyPack(packDir: string): Promise<string> {
  const indexes = (await readdir(packDir)).filter((name) => name.endsWith('.idx'))
  if (indexes.length !== 1) throw new Error(`expected one pack to adopt and found ${indexes.length}`)
  return join(packDir, (indexes[0] as string).slice(0, -'.idx'.length))
}

async function place(source: string, target: string): Promise<true> {
  await link(source, target).catch((error: unknown) => {
    if (codeOf(error) !== 'EXDEV') throw error
    return copyFile(source, target, constants.COPYFILE_EXCL)
  })
  return true
}

/** Gives the size of the file. */
async function makeDurable(target: string, now: Date): Promise<number> {
  const file = await open(target, 'r')
  try {
    // The age that a sweep looks at starts now, however long receiving and checking took.
    await file.utimes(now, now)
    await file.chmod(0o400)
    await file.sync()
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}

async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') throw error
      return symlink(source, target)
    })
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    if (codeOf(error) === 'ENOENT') throw error
    const unfinished = `${target}.${randomHex(6)}.tmp`
    await copyFile(source, unfinished)
    await rename(unfinished, target)
  }
}

async function readPart(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, at + filled)
    if (bytesRead === 0) return buffer.subarray(0, filled)
    filled += bytesRead
  }
  return buffer
}

async function countObjects(pack: string): Promise<number> {
  const file = await open(pack, 'r')
  try {
    const { buffer } = await file.read(Buffer.alloc(12), 0, 12, 0)
    return buffer.readUInt32BE(8)
  } finally {
    await file.close()
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(unless('ENOENT'))) !== undefined
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** For `catch`: that one error is expected and gives undefined. */
const unless = (code: string) => (error: unknown) => {
  if (codeOf(error) !== code) throw error
  return undefined
}
