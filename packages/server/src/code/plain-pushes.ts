// Most pushes are of a few plain objects to one branch. They are examined and stored without a process.

import type { Oid } from '../git/names.ts'
import { formatPack } from '../git/objects/pack-writer.ts'
import type { PackInfo, PackStore } from '../git/packs/pack-store.ts'
import { readPlainPush } from '../git/packs/plain-push.ts'
import type { Push, PushCommand } from '../git/protocol/push-request.ts'
import { largerWork } from '../platform/larger-work.ts'
import { isOutage } from '../platform/outages.ts'
import type { RepoRow } from '../repos/service.ts'
import type { RefChange } from './landing.ts'
import type { Makers } from './makers.ts'
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

interface Reading extends Bounds {
  /** The tip of the default branch. */
  base: Oid | null
}

interface PlainPushesDeps {
  repositories: Repositories
  makers: Makers
  packs: PackStore
}

export function createPlainPushes({ repositories, makers, packs }: PlainPushesDeps) {
  /** What is brought, understood and packed as it will be stored; undefined where git has to look at it. */
  async function read(repo: RepoRow, moves: readonly Move[], { base, inMemory, signal }: Reading) {
    const asked = { updates: moves, base, signal }
    const found = await repositories
      .withObjects(repo, signal, (stored) => readPlainPush(Buffer.concat(inMemory), stored, asked))
      .catch((error: unknown) => {
        if (signal.aborted || isOutage(error)) throw error
        // Git knows better what is wrong with it.
        return undefined
      })
    return found && { facts: found.described.facts, bytes: await formatPack(found.objects) }
  }

  return {
    /** Undefined where git has to look at it. Throws OutOfSpace. */
    async examine(repo: RepoRow, push: Push, bounds: Bounds): Promise<Examined | undefined> {
      const { headOid: base, refs } = await repositories.refList(repo)
      const moves = movesToDescribe(repo, push.commands, (name) => refs.find(name)?.oid)
      if (moves.length < push.commands.length) return undefined
      const reading = { base, ...bounds }
      const found = await makers.make(repo, bounds.signal, () => read(repo, moves, reading))
      if (!found || found.bytes.pack.length > bounds.maxBytes) return undefined
      const { facts, bytes } = found
      const pack = await packs.add(bytes)
      await largerWork.take(repo.org_id)
      const changeOf = (move: Move): RefChange[] => {
        const { ref, before, after } = move
        return ref ? [{ ref, before, after, peeled: null, type: 'commit', facts: facts.get(move) }] : []
      }
      return { pack, unpackError: null, refused: new Map(), changes: moves.flatMap(changeOf) }
    },
  }
}
