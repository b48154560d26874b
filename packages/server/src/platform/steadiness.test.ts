import assert from 'node:assert/strict'
import { it } from 'node:test'
import { watchSteadiness } from './steadiness.ts'

it('a clock that drifts is trusted; one that jumps is when it has run evenly for an hour', () => {
  let clock = 1_000_000
  let passed = 0
  const isSteady = watchSteadiness({ clock: () => clock + passed, stopwatch: () => passed })
  for (let i = 0; i < 100; i++) {
    passed += 600_000
    clock += 500
    assert.ok(isSteady())
  }
  clock -= 3_600_000
  assert.ok(!isSteady())
  passed += 3_599_999
  assert.ok(!isSteady())
  passed += 1
  assert.ok(isSteady())
})
