import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HEADROOM_BYTES, LOT_BYTES, lotsMissing, lotsToSpare, rowsAtOnce } from './room.ts'

const MB = 1024 * 1024
const room = (bytes: number, reserved_bytes: number) => ({ bytes, reserved_bytes })

describe('the room of a collection', () => {
  it('is taken in lots, before it is needed', () => {
    const missing = (bytes: number, reserved: number, more = HEADROOM_BYTES) =>
      lotsMissing(room(bytes, reserved), more)
    assert.equal(missing(0, 0), 1)
    assert.equal(missing(0, LOT_BYTES), 0)
    assert.equal(missing(LOT_BYTES - HEADROOM_BYTES, LOT_BYTES), 0)
    assert.equal(missing(LOT_BYTES - HEADROOM_BYTES + 1, LOT_BYTES), 1)
    assert.equal(missing(100 * MB, MB), 100)
    assert.equal(missing(0, 0, 10 * MB), 10)
  })

  it('is given back when much of it is free, but for some', () => {
    assert.equal(lotsToSpare(room(0, MB)), 0)
    assert.equal(lotsToSpare(room(3 * MB, 7 * MB)), 0)
    assert.equal(lotsToSpare(room(3 * MB, 9 * MB)), 4)
    assert.equal(lotsToSpare(room(100 * MB, MB)), 0)
    // What was given back is not taken again at once.
    assert.equal(lotsMissing(room(3 * MB, 5 * MB), HEADROOM_BYTES), 0)
  })

  it('says how many rows to take at once: fewer where they are large', () => {
    assert.equal(rowsAtOnce({ bytes: 0, row_count: 0 }, 200), 10)
    assert.equal(rowsAtOnce({ bytes: 300_000, row_count: 1000 }, 200), 200)
    assert.equal(rowsAtOnce({ bytes: 100 * MB, row_count: 1000 }, 200), 20)
    assert.equal(rowsAtOnce({ bytes: 256 * MB, row_count: 1000 }, 200), 10)
  })
})
