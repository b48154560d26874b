import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBatches } from './batches.ts'

describe('batches', () => {
  /** How many rows are taken, one time after the other, when each takes so long. */
  async function sizesOf(...msPerRow: number[]): Promise<number[]> {
    let now = 0
    const batches = createBatches(() => now)
    const sizes: number[] = []
    for (const ms of msPerRow)
      await batches.take(async (size) => {
        sizes.push(size)
        now += size * ms
      })
    return sizes
  }

  it('grow while they take less than their share, and no further', async () => {
    assert.deepEqual(await sizesOf(0, 0, 0, 0, 0, 0, 0), [20, 40, 80, 160, 320, 500, 500])
    assert.deepEqual(await sizesOf(0.02, 0.02, 0.02, 0.02), [20, 40, 75, 75])
  })

  it('shrink where they take more, to a few', async () => {
    assert.deepEqual(await sizesOf(0, 0, 0, 0.01, 0.02, 1, 1), [20, 40, 80, 160, 150, 75, 38])
    assert.deepEqual(await sizesOf(9, 9, 9), [20, 20, 20])
  })
})
