// Packs that were made here and stored a moment ago. Whoever commits reads what the commit before has made.

import { createRecent } from '../../platform/recent.ts'
import type { PackBytes } from '../objects/pack-writer.ts'
import type { OpenPack } from './pack-store.ts'

const MAX_PACK_BYTES = 32 * 1024
const MAX_BYTES = 8 * 1024 * 1024
const MAX_PACKS = 5_000

/** Keeps the last of them in memory, where they can be read as if they were opened. */
export function createFreshPacks() {
  const kept = createRecent<string, PackBytes>({
    maxEntries: MAX_PACKS,
    weight: { of: sizeOf, max: MAX_BYTES },
  })

  return {
    keep(packId: string, pack: PackBytes): void {
      if (sizeOf(pack) <= MAX_PACK_BYTES) kept.set(packId, pack)
    },
    forget: (packId: string): void => kept.forget(packId),
    open(packId: string): OpenPack | undefined {
      const found = kept.get(packId)
      return (
        found && {
          bytes: found.pack.length,
          indexBytes: found.idx.length,
          read: async (at, length) => found.pack.subarray(at, at + length),
          readIndex: async () => found.idx,
          close: async () => {},
        }
      )
    },
  }
}

const sizeOf = ({ pack, idx }: PackBytes) => pack.length + idx.length
