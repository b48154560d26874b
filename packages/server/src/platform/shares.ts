import { createRecent } from './recent.ts'

interface SharesOptions<Value> {
  /** What all entries of all owners may weigh together. */
  max: number
  /** And those of one owner, so that whoever reads a lot leaves something to the others. */
  maxEach: number
  weightOf(value: Value): number
  /** Told of whatever is in it no more. */
  onForget?(value: Value): void
}

export type Shares<Value> = ReturnType<typeof createShares<Value>>

/** Memory that owners share. What has been used least recently goes first, of whoever has used nothing for the longest. */
export function createShares<Value>({ max, maxEach, weightOf, onForget }: SharesOptions<Value>) {
  /** Whoever has used nothing for the longest comes first. */
  const owners = new Map<string, ReturnType<typeof createRecent<string, Value>>>()
  let latest: string | undefined
  let weighed = 0

  const makeShare = () =>
    createRecent<string, Value>({
      maxEntries: Number.POSITIVE_INFINITY,
      weight: { of: weightOf, max: maxEach },
      ...(onForget && { onForget }),
    })

  function touch(owner: string, share: ReturnType<typeof makeShare>): void {
    if (latest === owner && owners.has(owner)) return
    owners.delete(owner)
    owners.set(owner, share)
    latest = owner
  }

  function makeRoom(): void {
    while (weighed > max) {
      const [owner, share] = owners.entries().next().value ?? []
      if (!share || !owner) return
      const before = share.weight
      if (share.forgetOldest()) weighed -= before - share.weight
      else owners.delete(owner)
    }
  }

  return {
    get(owner: string, key: string): Value | undefined {
      const share = owners.get(owner)
      if (!share) return undefined
      touch(owner, share)
      return share.get(key)
    },

    /** The value must not change its weight later. One that is too heavy is not kept, and told of as forgotten. */
    set(owner: string, key: string, value: Value): void {
      if (weightOf(value) > Math.min(max, maxEach)) {
        onForget?.(value)
        return
      }
      const share = owners.get(owner) ?? makeShare()
      touch(owner, share)
      const before = share.weight
      share.set(key, value)
      weighed += share.weight - before
      makeRoom()
    },

    forget(owner: string, key: string): void {
      const share = owners.get(owner)
      if (!share) return
      const before = share.weight
      share.forget(key)
      weighed -= before - share.weight
    },

    clear(): void {
      for (const share of owners.values()) while (share.forgetOldest());
      owners.clear()
      weighed = 0
    },

    get weight(): number {
      return weighed
    },
  }
}
