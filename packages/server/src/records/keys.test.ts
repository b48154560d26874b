import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { compareText, type Scalar } from './fields.ts'
import { keyOf, rangeAfter, rangeOf } from './keys.ts'

const number = fc.double({ noNaN: true, noDefaultInfinity: true })
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({
    unit: fc.constantFrom('\0', '\u0001', '\u0002', '\u0003', 'a', '\uffff', '𝄞', '\u{10ffff}'),
    maxLength: 6,
  }),
  fc.string({ unit: fc.constantFrom('a', '𝄞'), minLength: 98, maxLength: 104 }),
)

const compare = (a: Scalar | null, b: Scalar | null): number => {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a === 'string') return Math.sign(compareText(a, b as string))
  // Not minus zero, which is no difference to anybody but an assertion.
  return Math.sign(Number(a) - Number(b)) + 0
}
const bytes = (key: string) => Buffer.from(key)
/** As both databases compare keys. */
const order = (a: string, b: string) => Buffer.compare(bytes(a), bytes(b))

describe('keys of index entries', () => {
  const pairs: [string, fc.Arbitrary<Scalar | null>][] = [
    [
      'numbers',
      fc.option(fc.oneof(number, fc.integer(), fc.constantFrom(0, -0, 1e300, -1e300, 2 ** 53 - 1))),
    ],
    ['booleans', fc.option(fc.boolean())],
    ['short text', fc.option(fc.string({ unit: 'binary', maxLength: 8 }))],
  ]
  for (const [title, value] of pairs)
    it(`have the order of ${title}, of the first field first`, () => {
      fc.assert(
        fc.property(value, value, value, value, (a, b, c, d) => {
          assert.equal(order(keyOf([a, c]), keyOf([b, d])), compare(a, b) || compare(c, d))
        }),
      )
    })

  it('are equal for equal text only, however long, and never longer than an index takes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        assert.equal(keyOf([a]) === keyOf([b]), a === b)
        assert.ok(bytes(keyOf([a, b, a, b])).length < 2500)
        assert.ok(!keyOf([a]).includes('\0'))
      }),
    )
  })

  const isIn = (key: string, { from, to }: { from: string; to: string }) =>
    order(key, from) >= 0 && order(key, to) < 0

  it('of all that a condition may find are in its range', () => {
    fc.assert(
      fc.property(text, text, text, (first, bound, value) => {
        const prefix = keyOf([first])
        const key = keyOf([first, value])
        assert.ok(isIn(key, rangeAfter(prefix)))
        if (first.length < 90) assert.ok(!isIn(keyOf([`${first}x`, value]), rangeAfter(prefix)))
        const compared = compareText(value, bound)
        if (compared <= 0) assert.ok(isIn(key, rangeOf(prefix, 'below', bound)))
        if (compared >= 0) assert.ok(isIn(key, rangeOf(prefix, 'above', bound)))
        if (value.startsWith(bound)) assert.ok(isIn(key, rangeOf(prefix, 'startsWith', bound)))
        assert.ok(!isIn(keyOf([first, null]), rangeOf(prefix, 'below', bound)))
      }),
    )
    fc.assert(
      fc.property(number, number, (bound, value) => {
        if (value <= bound) assert.ok(isIn(keyOf([value]), rangeOf('', 'below', bound)))
        if (value >= bound) assert.ok(isIn(keyOf([value]), rangeOf('', 'above', bound)))
      }),
    )
  })
})
