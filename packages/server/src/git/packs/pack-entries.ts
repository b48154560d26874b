import { crc32 } from 'node:zlib'
import type { OpenedPack } from './opened-packs.ts'
import { type EntryHeader, MAX_HEADER_BYTES, readEntryHeader } from './pack-entry.ts'
import type { Extent } from './pack-index.ts'
import { damage, Unusual } from './unusual.ts'

/** An entry of so many bytes is compared with its checksum, even where only its beginning is wanted. */
const CHECKED_BYTES = 64 * 1024
/** Longer ones are large, or padded: no object that is read here needs more. */
const MAX_ENTRY_BYTES = 1100 * 1024

export interface Entry extends EntryHeader, Extent {
  isChecked: boolean
}

/** What is written at an offset of the pack. Throws Unusual. */
export async function readEntry(pack: OpenedPack, offset: number): Promise<Entry> {
  const extent = pack.index.extentAt(offset)
  if (!extent) throw damage('an offset where nothing begins')
  const length = extent.end - extent.at
  const isChecked = length <= CHECKED_BYTES
  const bytes = await pack.read(offset, isChecked ? length : MAX_HEADER_BYTES)
  if (isChecked) requireChecksum(bytes, extent)
  return { ...readEntryHeader(bytes, offset), ...extent, isChecked }
}

/** Its compressed content. It is read again: entries of a long chain would be too much to hold. */
export async function readData(pack: OpenedPack, entry: Entry): Promise<Buffer> {
  const length = entry.end - entry.at
  if (length > MAX_ENTRY_BYTES) throw new Unusual('a long entry')
  const bytes = await pack.read(entry.at, length)
  if (!entry.isChecked) requireChecksum(bytes, entry)
  return bytes.subarray(entry.dataAt)
}

function requireChecksum(bytes: Buffer, { crc }: Extent): void {
  if (crc32(bytes) !== crc) throw damage('an entry that is not what was written')
}
