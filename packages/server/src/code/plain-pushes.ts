// Most pushes are of a few plain objects to one branch. They are examined and stored without a process.

import { formatPack } from '../git/objects/pack-writer.ts'
import type { PackInfo, PackStore } from '../git/packs/pack-store.ts'
import { readPlainPush } from '../git/packs/plain-push.ts'
import type { Push, PushCommand } from '../git/protocol/push-request.ts'
import { isOutage } from '../platform/outages.ts'
import { createPlaces } from '../platform/places.ts'
import type { RepoRow } from '../repos/service.ts'
import type { RefChange } from './landing.ts'
import { type Move, movesToDescribe } from './move-facts.ts'
import type { Repositories } from './repositories.ts'

/** What has been found out of a push, with its pack in the store. Nothing is visible to anybody yet. */
export interface Examined {
  pack: PackInfo | undefined
  unpackError: string | null
  /** Refs that cannot move, with the reason. */
  refused: Map<PushCommand, string>
  changes: RefChange[]
}

interface Bounds {
  /** The pack. */
  inMemory: readonly Uint8Array[]
  /** How large what is stored of it may be. */
  maxBytes: number
  signal: AbortSignal
}

interface PlainPushesDeps {
  repositories: Repositories
  packs: PackStore
}

// Each may have some megabytes in memory, however small its pack is.
const AT_ONCE = 32
const AT_ONCE_PER_ORG = 16

export function createPlainPushes({ repositories, packs }: PlainPushesDeps) {
  const places = createPlaces({ size: AT_ONCE, perOwner: AT_ONCE_PER_ORG })

  return {
    /** Undefined where git has to look at it. Throws OutOfSpace. */
    async examine(repo: RepoRow, push: Push, bounds: Bounds): Promise<Examined | undefined> {
      const { inMemory, maxBytes, signal } = bounds
      const { headOid: base, refs } = await repositories.refList(repo)
      const moves = movesToDescribe(repo, push.commands, (name) => refs.find(name)?.oid)
      if (moves.length < push.commands.length) return undefined
      await repositories.requireRoom()
      const owner = { id: repo.org_id, isProvisional: repo.expires_at !== null }
      using _place = await places.acquire(owner, signal)
      const asked = { updates: moves, base, signal }
      const read = await repositories
        .withObjects(repo, signal, (stored) => readPlainPush(Buffer.concat(inMemory), stored, asked))
        .catch((error: unknown) => {
          if (signal.aborted || isOutage(error)) throw error
          // Git knows better what is wrong with it.
          return undefined
        })
      if (!read) return undefined
      const bytes = await formatPack(read.objects)
      if (bytes.pack.length > maxBytes) return undefined
      const pack = await packs.add(bytes)
      const { facts } = read.described
      const changeOf = (move: Move): RefChange[] => {
        const { ref, before, after } = move
        return ref ? [{ ref, before, after, peeled: null, type: 'commit', facts: facts.get(move) }] : []
      }
      return { pack, unpackError: null, refused: new Map(), changes: moves.flatMap(changeOf) }
    },
  }
}
