import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../platform/fault.ts'
import { createRateLimit, type RateLimit } from './rate-limit.ts'

function limited(perSecond: number, burst: number) {
  let now = 1_000_000
  const limit = createRateLimit({ perSecond, burst }, () => now)
  return {
    limit,
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** How long a caller is told to wait, 0 when it may go ahead. */
function wait(limit: RateLimit, key = 'a'): number {
  try {
    limit.take(key)
    return 0
  } catch (error) {
    assert.ok(error instanceof Fault)
    assert.equal(error.code, 'TOO_MANY_REQUESTS')
    const { retryAfterMs } = error.data as { retryAfterMs: number }
    assert.ok(Number.isInteger(retryAfterMs) && retryAfterMs > 0)
    return retryAfterMs
  }
}

describe('a rate limit', () => {
  it('lets a burst through, then tells how long to wait', () => {
    const { limit } = limited(10, 5)
    assert.deepEqual(
      Array.from({ length: 7 }, () => wait(limit)),
      [0, 0, 0, 0, 0, 100, 100],
    )
  })

  it('lets one more through after exactly the time it told', () => {
    const { limit, pass } = limited(4, 1)
    assert.equal(wait(limit), 0)
    assert.equal(wait(limit), 250)
    pass(250)
    assert.equal(wait(limit), 0)
  })

  it('lets whoever waits as long as told through, however often they asked before', () => {
    const { limit, pass } = limited(3, 1)
    assert.equal(wait(limit), 0)
    for (let i = 0; i < 1000; i++) {
      pass(i % 97)
      pass(wait(limit))
      assert.equal(wait(limit), 0)
    }
  })

  it('holds its rate over a long time', () => {
    const { limit, pass } = limited(10, 5)
    let through = 0
    for (let ms = 0; ms < 60_000; ms += 20) {
      if (wait(limit) === 0) through++
      pass(20)
    }
    assert.ok(through >= 600 && through <= 605, String(through))
  })

  it('saves up no more than the burst', () => {
    const { limit, pass } = limited(10, 3)
    pass(3_600_000)
    assert.deepEqual([wait(limit), wait(limit), wait(limit)], [0, 0, 0])
    assert.equal(wait(limit), 100)
  })

  it('counts every key by itself', () => {
    const { limit } = limited(1, 1)
    assert.equal(wait(limit, 'a'), 0)
    assert.equal(wait(limit, 'b'), 0)
    assert.ok(wait(limit, 'a') > 0)
    assert.ok(wait(limit, 'b') > 0)
  })

  it('keeps the memory of a flood of keys bounded, and those who wait waiting', () => {
    const { limit, pass } = limited(1, 1)
    assert.equal(wait(limit, 'greedy'), 0)
    for (let i = 0; i < 250_000; i++) {
      if (i % 1000 === 0) assert.ok(wait(limit, 'greedy') > 0)
      wait(limit, `address:${i}`)
    }
    pass(10_000)
    assert.equal(wait(limit, 'greedy'), 0)
  })
})
