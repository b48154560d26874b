import type { CollectionRow } from './store.ts'

/** Bytes are taken from the organization in lots, so that its row is not locked by every write. */
export const LOT_BYTES = 1024 * 1024

/** More than one row adds. */
export const HEADROOM_BYTES = LOT_BYTES / 2

type Room = Pick<CollectionRow, 'bytes' | 'reserved_bytes'>

/** What a collection needs before so much is written to it. */
export const lotsMissing = ({ bytes, reserved_bytes }: Room, more: number): number =>
  Math.max(0, Math.ceil((bytes + more - reserved_bytes) / LOT_BYTES))

/** None of the last few: what shrinks and grows again is not to lock its organization every time. */
export function lotsToSpare({ bytes, reserved_bytes }: Room): number {
  const free = Math.floor((reserved_bytes - bytes) / LOT_BYTES)
  return free > 4 ? free - 2 : 0
}

/** What is read or written in one go. */
const PIECE_BYTES = 2 * 1024 * 1024

/** How many rows to take at once, at most: fewer where they are large. */
export const rowsAtOnce = ({ bytes, row_count }: Pick<CollectionRow, 'bytes' | 'row_count'>, most: number) =>
  Math.max(10, Math.min(most, Math.floor((PIECE_BYTES * row_count) / Math.max(1, bytes))))
