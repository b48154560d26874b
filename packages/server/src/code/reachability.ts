import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Oid } from '../git/names.ts'
import { countObjects, measureReachable, packReachable } from '../git/packs/maintenance.ts'
import type { PackInfo, PackStore } from '../git/packs/pack-store.ts'
import type { Scratch } from '../platform/scratch.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Db } from '../schema.ts'
import type { Repositories } from './repositories.ts'
import * as store from './store.ts'

/** What some tips reach of all that a repository keeps. */
export interface Reach {
  packIds: string[]
  /** Whether the packs hold nothing else. */
  isAll: boolean
  /** The part of what is kept that nothing leads to, or that is there twice. */
  wasted: number
  /** Makes a pack of what is reached, durable in the store; undefined when that is nothing. */
  pack(): Promise<PackInfo | undefined>
}

/** What an object takes in the files beside its pack, which git does not count. */
const INDEX_BYTES = 32

export type Reachability = ReturnType<typeof createReachability>

/** Tells what of a repository can still be reached. It takes as long as to walk through all of its history. */
export function createReachability({
  db,
  repositories,
  packs,
  scratch,
}: {
  db: Db
  repositories: Repositories
  packs: PackStore
  scratch: Scratch
}) {
  /** The tips must have been read before: what comes later may need packs that are not looked at. */
  return async function withReach<T>(
    { repo, tips, signal }: { repo: RepoRow; tips: readonly Oid[]; signal: AbortSignal },
    work: (reach: Reach) => Promise<T>,
  ): Promise<T> {
    const listed = await store.listPacks(db, repo.id)
    const objects = listed.reduce((sum, pack) => sum + pack.objects, 0)
    const bytes = listed.reduce((sum, pack) => sum + pack.bytes, 0) - objects * INDEX_BYTES
    const folder = join(scratch.path, 'reachable', randomBytes(8).toString('hex'))
    try {
      return await repositories.withGit(repo, signal, async (opened) => {
        const reached = await measureReachable(opened, tips)
        return work({
          packIds: listed.map(({ id }) => id),
          isAll: reached.objects === (await countObjects(opened)),
          wasted: bytes > 0 ? Math.max(0, 1 - reached.bytes / bytes) : 0,
          async pack() {
            await mkdir(folder, { recursive: true })
            return (await packReachable(opened, tips, folder)) ? packs.adopt(folder) : undefined
          },
        })
      })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}
