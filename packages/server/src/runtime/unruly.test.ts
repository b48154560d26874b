import assert from 'node:assert/strict'
import { it, mock } from 'node:test'
import { createUnruly } from './unruly.ts'

it('those whose runs were ended get processes one by one for a while, and after many go behind others', () => {
  let now = 1_000
  const time = mock.method(performance, 'now', () => now)
  try {
    const unruly = createUnruly()
    unruly.ended('a')
    assert.deepEqual([unruly.isBehind('a'), unruly.restMs('a')], [false, 0])
    unruly.started('a')
    unruly.started('b')
    assert.equal(unruly.restMs('b'), 0)
    const rest = unruly.restMs('a')
    assert.ok(rest > 0)
    now += rest
    assert.equal(unruly.restMs('a'), 0)
    for (let i = 0; i < 9; i++) {
      now += 50_000
      unruly.ended('a')
    }
    assert.deepEqual([unruly.isBehind('a'), unruly.isBehind('b')], [true, false])
    now += 60_000
    unruly.started('a')
    assert.deepEqual([unruly.isBehind('a'), unruly.restMs('a')], [false, 0])
  } finally {
    time.mock.restore()
  }
})
