import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCloneCache } from './cache.ts'
import { releaseChunk, SharedBuffer } from './shared-buffers.ts'

const sharesMemory = (a: Uint8Array, b: Uint8Array) => a.buffer === b.buffer

test('the memory of a shared buffer is used again when the last who holds it lets go, and not before', () => {
  const buffer = new SharedBuffer(10)
  buffer.hold()
  releaseChunk(buffer.bytes)
  const other = new SharedBuffer(10)
  assert.ok(!sharesMemory(buffer.bytes, other.bytes))
  buffer.release()
  const next = new SharedBuffer(20)
  assert.ok(sharesMemory(buffer.bytes, next.bytes))
})

test('a shared buffer is released once by each, and no other chunk is one', () => {
  const buffer = new SharedBuffer(10)
  buffer.release()
  assert.throws(() => releaseChunk(buffer.bytes), /more often/)
  releaseChunk(Buffer.alloc(10))
  releaseChunk(new SharedBuffer(10).bytes.subarray(0, 5))
  assert.throws(() => new SharedBuffer(1024 * 1024), RangeError)
})

test('readers of different packs, fast, slow and gone half way, never see what is not theirs', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'shared-buffers-'))
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => {
    cache.close()
    rmSync(dir, { recursive: true })
  })
  const packs = Array.from({ length: 3 }, () => randomBytes(3_000_000))

  async function follow(number: number, pace: () => number, leavesAfter = Number.POSITIVE_INFINITY) {
    const content = packs[number] as Buffer
    const answer = cache.readPack(`${number}`, {
      write: async ({ fd }) => {
        for (let at = 0; at < content.length; at += 500_000) {
          writeSync(fd, content.subarray(at, at + 500_000))
          await sleep(1)
        }
      },
      otherwise: () => assert.fail('there is room'),
    })
    const seen: Buffer[] = []
    for await (const chunk of answer) {
      // Looked at as late as a socket would that is slow to send it.
      const leaves = sleep(pace()).then(() => {
        seen.push(withoutHeads(chunk))
        releaseChunk(chunk)
      })
      if (Math.random() < 0.5) await leaves
      else void leaves.catch(assert.ifError)
      if (seen.length > leavesAfter) return
      await leaves
    }
    const pack = Buffer.concat(seen)
    assert.equal(digest(pack), digest(content))
  }

  const readers = Array.from({ length: 24 }, (_, i) =>
    follow(i % 3, () => Math.random() * (i % 5) * 4, i % 4 === 3 ? 5 : undefined),
  )
  await Promise.all(readers)
})

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** The bytes of the first band in whole packets. */
function withoutHeads(packets: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < packets.length; ) {
    const head = packets.toString('latin1', at, at + 4)
    assert.match(head, /^[0-9a-f]{4}$/)
    const length = Number.parseInt(head, 16)
    assert.ok(length === 0 || length > 4)
    if (packets[at + 4] === 1) parts.push(packets.subarray(at + 5, at + length))
    at += length || 4
  }
  // A copy: the original is about to be used again.
  return Buffer.concat(parts)
}
