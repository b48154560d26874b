import assert from 'node:assert/strict'
import test from 'node:test'
import { isoTime } from './clock.ts'

test('writes times as Date does', () => {
  const day = 86_400_000
  const edges = [0, 1, 999, 1000, 59_999, 60_000, 3_599_999, 3_600_000, day - 1, day, -1, -day, -day - 1]
  const years = [-1, 0, 999, 1969, 1970, 2000, 2024, 2026, 9999, 10_000, 275_000]
  const starts = years.map((year) => new Date(0).setUTCFullYear(year))
  const some = Array.from({ length: 20_000 }, () => Math.floor((Math.random() - 0.5) * 1.7e16))
  for (const ms of [...starts.flatMap((start) => edges.map((edge) => start + edge)), ...some, 8.64e15])
    assert.equal(isoTime(ms), new Date(ms).toISOString(), String(ms))
})

test('throws for what is no time, as Date does', () => {
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY, 9e15]) assert.throws(() => isoTime(ms), RangeError)
})
