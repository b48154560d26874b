// Most pushes are of a few plain objects to one branch. They are examined and stored without a process.

import type { Oid } from '../git/names.ts'
import { formatPack } from '../git/objects/pack-writer.ts'
import type { PackInfo, PackStore } from '../git/packs/pack-store.ts'
import { describePlainPush, readPlainPack } from '../git/packs/plain-push.ts'
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

interface PlainPushesDeps {
  repositories: Repositories
  makers: Makers
  packs: PackStore
}

export function createPlainPushes({ repositories, makers, packs }: PlainPushesDeps) {
  /**
   * What is brought, understood, and on its way into the store: that begins before all is known of it, since it takes as
   * long as to find out the rest, and mostly all is well. Undefined where git has to look at it.
   */
  async function take(
    repo: RepoRow,
    moves: readonly Move[],
    { base, inMemory, maxBytes, signal }: Bounds & { base: Oid | null },
  ) {
    return repositories
      .withObjects(repo, signal, async (stored) => {
        const brought = await readPlainPack(Buffer.concat(inMemory), stored)
        if (!brought) return undefined
        // None where a branch moves to what is there.
        const bytes = brought.objects.length > 0 ? await formatPack(brought.objects) : undefined
        if (bytes && bytes.pack.length > maxBytes) return undefined
        const storing = bytes ? packs.add(bytes) : Promise.resolve(undefined)
        // Whoever waits for it hears of it, and until then somebody has to.
        storing.catch(() => {})
        const describing = describePlainPush(brought, stored, { updates: moves, base, signal })
        const described = await describing.catch(async (error: unknown) => {
          await discard(storing)
          throw error
        })
        if (described) return { storing, facts: described.facts }
        await discard(storing)
        return undefined
      })
      .catch((error: unknown) => {
        if (signal.aborted || isOutage(error)) throw error
        // Git knows better what is wrong with it.
        return undefined
      })
  }

  /** What could not be stored has left nothing behind, and why it could not matters to nobody. */
  async function discard(storing: Promise<PackInfo | undefined>): Promise<void> {
    const stored = await storing.catch(() => undefined)
    if (stored) await packs.remove(stored.packId)
  }

  return {
    /** Undefined where git has to look at it. Throws OutOfSpace. */
    async examine(repo: RepoRow, push: Push, bounds: Bounds): Promise<Examined | undefined> {
      const { headOid: base, refs } = await repositories.refList(repo)
      const moves = movesToDescribe(repo, push.commands, (name) => refs.find(name)?.oid)
      if (moves.length < push.commands.length) return undefined
      const found = await makers.make(repo, bounds.signal, () => take(repo, moves, { base, ...bounds }))
      if (!found) return undefined
      const { facts, storing } = found
      const pack = await storing
      await largerWork.take(repo.org_id)
      const changeOf = (move: Move): RefChange[] => {
        const { ref, before, after } = move
        return ref ? [{ ref, before, after, peeled: null, type: 'commit', facts: facts.get(move) }] : []
      }
      return { pack, unpackError: null, refused: new Map(), changes: moves.flatMap(changeOf) }
    },
  }
}
