import assert from 'node:assert/strict'
import test from 'node:test'
import { createRandom } from '../../testing/history.ts'
import { formatRawIndex } from '../../testing/pack-files.ts'
import type { Oid } from '../names.ts'
import { readPackIndex } from './pack-index.ts'
import { Unusual } from './unusual.ts'

const CHECKSUM = Buffer.alloc(20, 7)

/** Entries one after the other, under ids of any order. */
function placed(count: number, size: number) {
  const random = createRandom(count)
  const id = () =>
    Array.from({ length: 5 }, () =>
      random(2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('') as Oid
  return Array.from({ length: count }, (_, i) => ({ oid: id(), crc: random(2 ** 32), offset: 12 + i * size }))
}

test('finds every entry with its end and its checksum, in small packs and beyond four gigabytes', async () => {
  for (const [count, size] of [
    [1, 100],
    [40_000, 33],
    [1000, 50_000_000],
  ] as const) {
    const entries = placed(count, size)
    const packBytes = 12 + count * size + 20
    const index = await readPackIndex(formatRawIndex(entries, CHECKSUM), packBytes)
    assert.deepEqual([index.objects, index.packChecksum], [count, CHECKSUM])
    const wrong = entries.filter(({ oid, crc, offset }) => {
      const extent = index.find(oid) === offset ? index.extentAt(offset) : undefined
      return extent?.crc !== crc || extent.end !== offset + size
    })
    assert.deepEqual(wrong, [])
    assert.equal(index.extentAt(13), undefined)
    assert.equal(index.extentAt(packBytes), undefined)
    assert.equal(index.find('0'.repeat(40) as Oid), undefined)
    assert.equal(index.find('f'.repeat(40) as Oid), undefined)
  }
})

test('believes no index that contradicts itself', async () => {
  const entries = placed(300, 50)
  const packBytes = 12 + 300 * 50 + 20
  const good = formatRawIndex(entries, CHECKSUM)
  const refuse = async (bytes: Buffer, size = packBytes) => {
    await assert.rejects(readPackIndex(bytes, size), Unusual)
  }
  await refuse(Buffer.alloc(0))
  await refuse(good.subarray(0, good.length - 21))
  await refuse(good.subarray(8))
  await refuse(Buffer.from(good.with(7, 1)))
  // Numbers that go down, and more of them than there are names.
  await refuse(Buffer.from(good.with(8 + 100 * 4, 1)))
  await refuse(Buffer.from(good.with(8 + 255 * 4 + 1, 1)))
  await refuse(good, packBytes - 50)
  // An offset in a table that is not there.
  const offsets = 8 + 1024 + 300 * 24
  await refuse(Buffer.from(good.with(offsets, 0x80)))
  assert.ok(await readPackIndex(good, packBytes))
})
