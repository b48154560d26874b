// Packs that come from memory, into files of their own.

import { fstatSync, statSync } from 'node:fs'
import { allDone } from '../../platform/all-done.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { PackBytes } from '../objects/pack-writer.ts'
import { closeSynced, openNew, writeWhole } from './durable-files.ts'
import { createSparePacks, type NewPack, type SparePack } from './spare-packs.ts'

interface Places {
  newPackId(): string
  fileOf(packId: string, part: 'pack' | 'idx'): string
  folderOf(packId: string): string
  makeFolder(folder: string): Promise<void>
  syncFolder(folder: string): Promise<void>
}

interface NewPacksOptions {
  remove(packId: string): Promise<void>
  clock: Clock
  /** Whether files are made before they are needed. */
  keepsSpares: boolean
}

export function createNewPacks(
  { newPackId, fileOf, folderOf, makeFolder, syncFolder }: Places,
  { remove, clock, keepsSpares }: NewPacksOptions,
) {
  const spares = keepsSpares ? createSparePacks({ make, discard, clock }) : undefined
  /** The file system has a clock too, which is mostly the same. */
  const modified = () => (clock === systemClock ? undefined : new Date(clock()))

  async function open(): Promise<NewPack> {
    const packId = newPackId()
    await makeFolder(folderOf(packId))
    const opening = [openNew(fileOf(packId, 'pack')), openNew(fileOf(packId, 'idx'))] as const
    try {
      await allDone(opening)
    } catch (error) {
      for (const opened of opening) opened.then(closeSynced, () => {})
      await remove(packId)
      throw error
    }
    const [pack, idx] = await Promise.all(opening)
    return { packId, pack, idx }
  }

  async function make(count: number): Promise<SparePack[]> {
    const made: SparePack[] = []
    try {
      for (let i = 0; i < count; i++) {
        const opened = await open()
        made.push({ ...opened, made: { pack: fstatSync(opened.pack.fd), idx: fstatSync(opened.idx.fd) } })
      }
      const at = modified()
      if (at) await Promise.all(made.flatMap(({ pack, idx }) => [pack.utimes(at, at), idx.utimes(at, at)]))
      for (const folder of new Set(made.map(({ packId }) => folderOf(packId)))) await syncFolder(folder)
    } catch (error) {
      await Promise.allSettled(made.map(discard))
      throw error
    }
    return made
  }

  async function discard({ packId, pack, idx }: NewPack): Promise<void> {
    await Promise.allSettled([pack.close(), idx.close()])
    await remove(packId)
  }

  /** Neither has to be there before the other, because nobody lists it yet. */
  function writeInto({ pack, idx }: NewPack, bytes: PackBytes): Promise<void>[] {
    const times = { modified: modified() }
    return [writeWhole(pack, bytes.pack, times), writeWhole(idx, bytes.idx, times)]
  }

  async function finish<T>({ packId, pack, idx }: NewPack, writing: Promise<T>): Promise<T> {
    try {
      return await writing
    } catch (error) {
      await remove(packId)
      throw error
    } finally {
      closeSynced(pack)
      closeSynced(idx)
    }
  }

  /**
   * Whether the names lead to the files that were made, and nobody else has written into them. They have lain there for a
   * while: somebody may have moved their folder, cleared it or put it back from a copy.
   */
  function areOurs({ packId, made }: SparePack, bytes: PackBytes): boolean {
    const isOurs = (part: 'pack' | 'idx') => {
      const named = statSync(fileOf(packId, part), { throwIfNoEntry: false })
      const { ino, dev } = made[part]
      const isAsLarge = named?.size === 0 || named?.size === bytes[part].length
      return named?.ino === ino && named.dev === dev && isAsLarge
    }
    try {
      return isOurs('pack') && isOurs('idx')
    } catch {
      // Whoever makes new ones hears what is the matter.
      return false
    }
  }

  /** Undefined where there is none. */
  async function writeSpare(bytes: PackBytes): Promise<string | undefined> {
    const spare = spares?.take()
    if (!spare) return undefined
    const writing = allDone(writeInto(spare, bytes))
    const isGood = areOurs(spare, bytes)
    await finish(spare, writing)
    if (isGood) return spare.packId
    // Whatever has its name now, nobody lists it.
    await remove(spare.packId).catch(() => {})
    return undefined
  }

  async function writeNew(bytes: PackBytes): Promise<string> {
    const made = await open()
    await finish(made, allDone([...writeInto(made, bytes), syncFolder(folderOf(made.packId))]))
    return made.packId
  }

  return {
    /** Gives the id of the pack, which is durable then; when it fails, nothing of it is left. */
    write: async (bytes: PackBytes): Promise<string> => (await writeSpare(bytes)) ?? (await writeNew(bytes)),

    async close(): Promise<void> {
      await spares?.close()
    },
  }
}
