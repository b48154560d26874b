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

test('readers of different answers, fast, slow and gone half way, never see what is not theirs', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'shared-buffers-'))
  const cache = createCloneCache({ dir, maxBytes: 100_000_000 })
  t.after(() => {
    cache.close()
    rmSync(dir, { recursive: true })
  })
  const answers = Array.from({ length: 3 }, () => randomBytes(3_000_000))

  async function follow(number: number, pace: () => number, leavesAfter = Number.POSITIVE_INFINITY) {
    const content = answers[number] as Buffer
    const answer = cache.readWritten(`${number}`, {
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
        // A copy: the original is about to be used again.
        seen.push(Buffer.from(chunk))
        releaseChunk(chunk)
      })
      if (Math.random() < 0.5) await leaves
      else void leaves.catch(assert.ifError)
      if (seen.length > leavesAfter) return
      await leaves
    }
    assert.equal(digest(Buffer.concat(seen)), digest(content))
  }

  const readers = Array.from({ length: 24 }, (_, i) =>
    follow(i % 3, () => Math.random() * (i % 5) * 4, i % 4 === 3 ? 5 : undefined),
  )
  await Promise.all(readers)
})

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
