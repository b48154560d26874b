import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createPlaces, NoPlace } from './places.ts'

test('runs up to its size and makes the rest wait', async () => {
  const pool = createPlaces({ size: 2, perOwner: 2 })
  const first = await pool.acquire({ id: 'a' })
  await pool.acquire({ id: 'a' })
  const third = pool.acquire({ id: 'a' })
  assert.deepEqual([pool.running, pool.depth], [2, 1])
  first.release()
  first.release()
  await third
  assert.deepEqual([pool.running, pool.depth], [2, 0])
})

test('leaves some to those who hold none', async () => {
  const pool = createPlaces({ size: 4, perOwner: 2, forOthers: 2 })
  const first = await pool.acquire({ id: 'a' })
  await pool.acquire({ id: 'a' })
  await pool.acquire({ id: 'b' })
  const second = pool.acquire({ id: 'b' })
  assert.deepEqual([pool.running, pool.depth], [3, 1])
  const other = await pool.acquire({ id: 'c' })
  other.release()
  assert.deepEqual([pool.running, pool.depth], [3, 1])
  first.release()
  assert.deepEqual([pool.running, pool.depth], [2, 1])
  await pool.acquire({ id: 'd' })
  assert.deepEqual([pool.running, pool.depth], [3, 1])
  void second.catch(() => {})
})

test('serves waiting keys in turn, however many one of them has waiting', async () => {
  const pool = createPlaces({ size: 1 })
  const blocker = await pool.acquire({ id: 'x' })
  const order: string[] = []
  const work = async (owner: string, name: string) => {
    using _slot = await pool.acquire({ id: owner })
    order.push(name)
    await turn()
  }
  const all = [
    work('a', 'a1'),
    work('a', 'a2'),
    work('a', 'a3'),
    work('b', 'b1'),
    work('c', 'c1'),
    work('b', 'b2'),
  ]
  blocker.release()
  await Promise.all(all)
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  assert.deepEqual([pool.running, pool.depth], [0, 0])
})

test('leaves room for others when one owner holds its share', async () => {
  const pool = createPlaces({ size: 4 })
  const held = [
    await pool.acquire({ id: 'a' }),
    await pool.acquire({ id: 'a' }),
    await pool.acquire({ id: 'a' }),
  ]
  const fourth = pool.acquire({ id: 'a' })
  const other = await pool.acquire({ id: 'b' })
  assert.equal(pool.depth, 1)
  other.release()
  assert.equal(pool.depth, 1, 'a free slot is not a reason to exceed the share')
  held[0]?.release()
  await fourth
})

test('refuses when too many of one owner wait, and others may still wait', async () => {
  const pool = createPlaces({ size: 1, maxWaiting: 1 })
  const slot = await pool.acquire({ id: 'a' })
  const waiting = pool.acquire({ id: 'a' })
  await assert.rejects(pool.acquire({ id: 'a' }), NoPlace)
  const other = pool.acquire({ id: 'b' })
  slot.release()
  ;(await waiting).release()
  ;(await other).release()
})

test('an aborted wait leaves the queue and takes no slot', async () => {
  const pool = createPlaces({ size: 1 })
  const slot = await pool.acquire({ id: 'a' })
  const controller = new AbortController()
  const waiting = pool.acquire({ id: 'a' }, controller.signal)
  controller.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/)
  assert.equal(pool.depth, 0)
  slot.release()
  assert.equal(pool.running, 0)
  await assert.rejects(pool.acquire({ id: 'a' }, controller.signal), /gone/)
})

test('leaves most places to those who stand for something, however many strangers come', async () => {
  const pool = createPlaces({ size: 8 })
  const strangers = Array.from({ length: 50 }, (_, i) =>
    pool.acquire({ id: `anon ${i}`, isProvisional: true }),
  )
  // Most wait for longer than the test runs, and are refused one day.
  for (const stranger of strangers) stranger.catch(() => {})
  await turn()
  assert.deepEqual([pool.running, pool.depth], [2, 48])
  for (const id of 'aabbcc') await pool.acquire({ id })
  assert.equal(pool.running, 8)
  // One leaves, the next of them comes, and still no more than two are in.
  ;(await strangers[0])?.release()
  await strangers[2]
  assert.deepEqual([pool.running, pool.depth], [8, 47])
})

test('lets nobody wait for ever, and says when to come again', async () => {
  const pool = createPlaces({ size: 1, maxWaitMs: 20 })
  const held = await pool.acquire({ id: 'a' })
  await assert.rejects(pool.acquire({ id: 'b' }), (error) => {
    assert.ok(error instanceof NoPlace && error.retryAfterMs > 0)
    return true
  })
  assert.deepEqual([pool.running, pool.depth], [1, 0])
  held.release()
  ;(await pool.acquire({ id: 'b' })).release()
})

test('counts what weighs more as more, and lets in one alone that weighs more than there is', async () => {
  const pool = createPlaces({ size: 10, perOwner: 6 })
  const large = await pool.acquire({ id: 'a' }, undefined, 20)
  const waiting = pool.acquire({ id: 'b' }, undefined, 4)
  assert.deepEqual([pool.running, pool.depth], [20, 1])
  large.weigh(5)
  const small = await waiting
  assert.deepEqual([pool.running, pool.depth], [9, 0])
  const [own, others] = [pool.acquire({ id: 'a' }, undefined, 2), pool.acquire({ id: 'c' }, undefined, 2)]
  assert.deepEqual([pool.running, pool.depth], [9, 2])
  small.release()
  await others
  assert.deepEqual([pool.running, pool.depth], [7, 1])
  large.release()
  await own
  assert.deepEqual([pool.running, pool.depth], [4, 0])
})

test('gives nothing to what has been released', async () => {
  const pool = createPlaces({ size: 2 })
  const slot = await pool.acquire({ id: 'a' })
  slot.release()
  slot.weigh(2)
  slot.release()
  assert.equal(pool.running, 0)
})
