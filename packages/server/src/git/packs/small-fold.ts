// Small packs folded into one without git: their entries as they are, one after the other. Those made here hold whole
// objects and no differences, so each entry means the same wherever it is.

import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { createPauses } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import { formatIndex, type IndexedEntry, type PackBytes, packHeader } from '../objects/pack-writer.ts'
import { OID_BYTES, oidsOfIndex, type PackIndex, readPackIndex } from './pack-index.ts'
import { Unusual } from './unusual.ts'

export interface PackFiles {
  pack: Buffer
  idx: Buffer
}

/** Undefined where git has to do it: something in them is a difference, or not as it was written. */
export async function foldSmallPacks(packs: readonly PackFiles[]): Promise<PackBytes | undefined> {
  try {
    return await fold(packs)
  } catch (error) {
    if (error instanceof Unusual) return undefined
    throw error
  }
}

async function fold(packs: readonly PackFiles[]): Promise<PackBytes> {
  const pause = createPauses()
  const entries = new Map<Oid, IndexedEntry>()
  const parts: Buffer[] = []
  let at = packHeader(0).length
  for (const { pack, idx } of packs) {
    const index = await readPackIndex(idx, pack.length)
    requireWhole({ pack, idx }, index)
    for (const oid of oidsOfIndex(idx, index.objects)) {
      await pause()
      const bytes = entryOf(pack, index, oid)
      if (entries.has(oid)) continue
      entries.set(oid, { oid, at, crc: crc32(bytes) })
      parts.push(bytes)
      at += bytes.length
    }
  }
  const content = Buffer.concat([packHeader(entries.size), ...parts])
  const checksum = hash('sha1', content, 'buffer')
  return {
    pack: Buffer.concat([content, checksum]),
    idx: await formatIndex([...entries.values()], checksum),
    objects: entries.size,
  }
}

function requireWhole({ pack, idx }: PackFiles, index: PackIndex): void {
  const checksum = pack.subarray(-OID_BYTES)
  const isSame = (bytes: Buffer, sum: Buffer) => hash('sha1', bytes, 'buffer').equals(sum)
  const header = packHeader(index.objects)
  const isAsWritten =
    pack.subarray(0, header.length).equals(header) &&
    checksum.equals(index.packChecksum) &&
    isSame(pack.subarray(0, -OID_BYTES), checksum) &&
    isSame(idx.subarray(0, -OID_BYTES), idx.subarray(-OID_BYTES))
  if (!isAsWritten) throw new Unusual('a pack that is not as it was written')
}

const FIRST_DIFFERENCE = 6

function entryOf(pack: Buffer, index: PackIndex, oid: Oid): Buffer {
  const extent = index.extentAt(index.find(oid) ?? -1)
  if (!extent) throw new Unusual('an entry that is not where the index says')
  const bytes = pack.subarray(extent.at, extent.end)
  if (crc32(bytes) !== extent.crc) throw new Unusual('an entry that is not as it was written')
  const type = ((bytes[0] as number) >> 4) & 7
  if (type >= FIRST_DIFFERENCE) throw new Unusual('an object that is the difference to another')
  return bytes
}
