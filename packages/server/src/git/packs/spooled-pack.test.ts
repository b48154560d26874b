import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { PackRejected } from './intake.ts'
import { withWholePack } from './spooled-pack.ts'

async function* chunksOf(total: number, size = 64 * 1024): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < total; sent += size) yield Buffer.alloc(Math.min(size, total - sent), sent % 251)
}

const collect = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks))

test('a pack is given on whole, from memory or from a file that is gone afterwards', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'trellis-spooled-'))
  const bounds = {
    dir: dir.path,
    maxBytes: 10_000_000,
    takeRoom: () => true,
    signal: new AbortController().signal,
  }
  for (const size of [0, 1, 100_000, 1024 * 1024, 5_000_000]) {
    const sent = await collect(chunksOf(size))
    await withWholePack(chunksOf(size), bounds, async ({ input, inMemory }) => {
      assert.equal(inMemory !== undefined, size <= 1024 * 1024)
      assert.equal((await readdir(dir.path)).length, inMemory ? 0 : 1)
      const kept = 'file' in input ? await readFile(input.file) : await collect(input)
      assert.ok(kept.equals(sent), String(size))
    })
  }
  assert.deepEqual(await readdir(dir.path), [])
})

test('nothing begins before the last byte is here, and nothing is left of what never came', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'trellis-spooled-'))
  const bounds = {
    dir: dir.path,
    maxBytes: 3_000_000,
    takeRoom: () => true,
    signal: new AbortController().signal,
  }
  const never = async () => assert.fail('it has begun')
  await assert.rejects(withWholePack(chunksOf(3_000_001), bounds, never), (error) => {
    assert.ok(error instanceof PackRejected)
    return /larger than 3000000 bytes/.test(error.message)
  })
  async function* cutOff(): AsyncGenerator<Buffer> {
    yield* chunksOf(2_000_000)
    throw new Error('the client is gone')
  }
  await assert.rejects(withWholePack(cutOff(), bounds, never), /the client is gone/)
  assert.deepEqual(await readdir(dir.path), [])
})
