import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import { createCloneCache, type Produce } from './cache.ts'

const dir = mkdtempSync(join(tmpdir(), 'clone-cache-'))
after(() => {
  // Files have no names while they are used, so there is nothing to find.
  assert.deepEqual(readdirSync(dir), [])
  rmSync(dir, { recursive: true })
})

async function text(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(chunks)).toString('latin1')
}

const produceText = (content: string): Produce =>
  async function* () {
    yield Buffer.from(content, 'latin1')
  }
const mustNotProduce: Produce = () => assert.fail('produced again')

/** A production that the test moves on step by step. */
function stepwise() {
  let next = Promise.withResolvers<Buffer | undefined>()
  const seen = { started: 0, aborted: false }
  const produce: Produce = async function* (signal) {
    seen.started++
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        seen.aborted = true
        reject(signal.reason)
      })
    })
    aborted.catch(() => {})
    for (;;) {
      const chunk = await Promise.race([next.promise, aborted])
      if (chunk === undefined) return
      next = Promise.withResolvers()
      yield chunk
    }
  }
  const step = async (content: string | undefined) => {
    const current = next
    current.resolve(content === undefined ? undefined : Buffer.from(content))
    while (content !== undefined && next === current) await tick()
  }
  const fail = (error: Error) => {
    next.promise.catch(() => {})
    next.reject(error)
  }
  return { produce, step, fail, seen }
}

test('makes an answer once and serves it again', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 10_000_000 })
  t.after(() => cache.close())
  const content = randomBytes(1_000_000).toString('latin1')
  assert.equal(await text(cache.read('a', produceText(content))), content)
  assert.equal(await text(cache.read('a', mustNotProduce)), content)
  assert.equal(cache.bytes, 1_000_000)
})

test('those who come while it is made get all of it, and the first may leave', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 1000 })
  t.after(() => cache.close())
  const { produce, step, seen } = stepwise()
  const first = cache.read('a', produce)
  const firstChunk = first.next()
  await step('one ')
  assert.equal((await firstChunk).value?.toString(), 'one ')
  const second = text(cache.read('a', mustNotProduce))
  await tick()
  await first.return()
  await step('two ')
  const third = text(cache.read('a', mustNotProduce))
  await step('three')
  await step(undefined)
  assert.deepEqual(await Promise.all([second, third]), ['one two three', 'one two three'])
  assert.deepEqual(seen, { started: 1, aborted: false })
})

test('is aborted when the last reader leaves, and starts afresh for the next', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 1000 })
  t.after(() => cache.close())
  const { produce, step, seen } = stepwise()
  const readers = [cache.read('a', produce), cache.read('a', mustNotProduce)]
  const chunks = readers.map((reader) => reader.next())
  await step('part')
  await Promise.all(chunks)
  await readers[0]?.return()
  assert.equal(seen.aborted, false)
  await readers[1]?.return()
  assert.equal(seen.aborted, true)
  assert.equal(await text(cache.read('a', produceText('whole'))), 'whole')
})

test('a reader that waits for a stalled production can leave, and the others stay', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 1000 })
  t.after(() => cache.close())
  const { produce, step, seen } = stepwise()
  const [first, second] = [new AbortController(), new AbortController()]
  const reading = [
    assert.rejects(text(cache.read('a', produce, { signal: first.signal })), /first left/),
    assert.rejects(text(cache.read('a', mustNotProduce, { signal: second.signal })), /second left/),
  ]
  await step('part')
  first.abort(new Error('first left'))
  await reading[0]
  assert.equal(seen.aborted, false)
  second.abort(new Error('second left'))
  await reading[1]
  assert.equal(seen.aborted, true)
  await assert.rejects(text(cache.read('b', mustNotProduce, { signal: first.signal })), /first left/)
})

test('a broken production fails for everyone who reads it and is never served later', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 1000 })
  t.after(() => cache.close())
  const { produce, step, fail } = stepwise()
  const readers = [text(cache.read('a', produce)), text(cache.read('a', mustNotProduce))]
  const outcomes = Promise.allSettled(readers)
  await step('part')
  fail(new Error('git died'))
  for (const outcome of await outcomes)
    assert.match(String((outcome as PromiseRejectedResult).reason), /git died/)
  assert.equal(cache.entries, 0)
  await tick()
  assert.equal(cache.bytes, 0)
  assert.equal(await text(cache.read('a', produceText('whole'))), 'whole')
})

test('forgets the least recently used answer when it is full', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 300, maxEntryBytes: 200 })
  t.after(() => cache.close())
  for (const key of ['a', 'b', 'c']) await text(cache.read(key, produceText(key.repeat(100))))
  await text(cache.read('a', mustNotProduce))
  await text(cache.read('d', produceText('d'.repeat(100))))
  assert.equal(cache.bytes, 300)
  await text(cache.read('a', mustNotProduce))
  assert.equal(await text(cache.read('b', produceText('again'))), 'again')
})

test('an answer being read outlives its place in the cache', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 600, maxEntryBytes: 600, maxEntries: 2 })
  t.after(() => cache.close())
  const content = 'x'.repeat(300)
  await text(cache.read('a', produceText(content)))
  const slow = cache.read('a', mustNotProduce)
  const start = await slow.next()
  await text(cache.read('b', produceText('b'.repeat(300))))
  await text(cache.read('c', produceText('c'.repeat(300))))
  assert.equal(start.value?.toString(), content)
  assert.equal((await slow.next()).done, true)
})

test('a longer answer than may be kept is shared in bounded space and not kept', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 100_000, maxEntryBytes: 10_000 })
  t.after(() => cache.close())
  const chunks = Array.from({ length: 60 }, () => randomBytes(3333))
  const produce: Produce = async function* () {
    for (const chunk of chunks) {
      await tick()
      assert.ok(cache.bytes <= 10_000)
      yield chunk
    }
  }
  const expected = Buffer.concat(chunks).toString('latin1')
  const readers = [text(cache.read('a', produce)), text(cache.read('a', mustNotProduce))]
  assert.ok((await Promise.all(readers)).every((answer) => answer === expected))
  await tick()
  assert.deepEqual([cache.entries, cache.bytes], [0, 0])
})

test('streams past the cache when everything in it is being read', async (t) => {
  const cache = createCloneCache({ dir, maxBytes: 1000, maxEntries: 1 })
  t.after(() => cache.close())
  const { produce, step } = stepwise()
  const first = text(cache.read('a', produce))
  await step('slow')
  assert.equal(await text(cache.read('b', produceText('direct'))), 'direct')
  await step(undefined)
  assert.equal(await first, 'slow')
  assert.equal(await text(createCloneCache({ dir, maxBytes: 0 }).read('a', produceText('off'))), 'off')
})

test('closing aborts what is being made', async () => {
  const cache = createCloneCache({ dir, maxBytes: 1000 })
  const { produce, step, seen } = stepwise()
  const reading = assert.rejects(text(cache.read('a', produce)), /closed/)
  await step('part')
  cache.close()
  await reading
  assert.equal(seen.aborted, true)
})

test('an answer that the disk has no room for is passed on, and what nobody reads makes room', async (t) => {
  let left = 1000
  const cache = createCloneCache({ dir, maxBytes: 10_000, roomLeft: async () => left })
  t.after(() => cache.close())
  const { produce, step } = stepwise()
  const expecting = (expectedBytes: number) => ({ expectedBytes })
  const first = text(cache.read('a', produce, expecting(600)))
  await step('slow')
  // The first may still need almost all of its 600 bytes.
  assert.equal(await text(cache.read('b', produceText('direct'), expecting(500))), 'direct')
  assert.equal(cache.entries, 1)
  for (const key of ['c', 'd', 'e'])
    assert.equal(await text(cache.read(key, produceText('kept'), expecting(400))), 'kept')
  assert.equal(cache.entries, 4)
  // Six bytes too few, which the oldest two have.
  left = 790
  assert.equal(await text(cache.read('f', produceText('direct'), expecting(200))), 'direct')
  assert.equal(cache.entries, 2)
  await text(cache.read('e', mustNotProduce))
  await step(undefined)
  assert.equal(await first, 'slow')
})
