import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTurns } from './turns.ts'

describe('turns', () => {
  /** Organizations, what they have due, and how long it takes to find out. */
  function setUp(due: Record<string, number>, lookMs = 0) {
    let now = 1_000
    let looks = 0
    const takeInTurn = createTurns({
      stopwatch: () => now,
      async listDue() {
        looks++
        now += lookMs
        return Object.keys(due).filter((org) => (due[org] ?? 0) > 0)
      },
    })
    const take = async (org: string, limit: number) => {
      const count = Math.min(limit, due[org] ?? 0)
      due[org] = (due[org] ?? 0) - count
      return Array.from({ length: count }, () => org)
    }
    return {
      next: async (room: number) => (await takeInTurn(room, take)).join(' '),
      pass: (ms: number) => {
        now += ms
      },
      looks: () => looks,
    }
  }

  it('come round, however much somebody has', async () => {
    const due = { a: 100, b: 1, c: 2, d: 3 }
    const { next } = setUp(due)
    assert.equal(await next(2), 'a b')
    assert.equal(await next(2), 'c d')
    assert.equal(await next(3), 'a c d')
    Object.assign(due, { b: 1 })
    assert.equal(await next(1), 'b')
    assert.equal(await next(4), 'a a d a')
    assert.equal(await next(4), 'a a a a')
  })

  it('are not looked up again and again when that takes long', async () => {
    const due: Record<string, number> = { a: 100 }
    const { next, pass, looks } = setUp(due, 50)
    await next(1)
    due.b = 1
    for (let i = 0; i < 5; i++) assert.equal(await next(1), 'a')
    assert.equal(looks(), 1)
    pass(1_001)
    assert.equal(await next(1), 'b')
    assert.equal(looks(), 2)
  })
})
