import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createSearch } from './search.ts'

describe('a search for text', () => {
  it('finds what is there, however it repeats itself', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'a', 'b'), minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(text, text, fc.nat(4), (part, other, times) => {
        const wanted = part.repeat(1 + Math.ceil(32 / part.length))
        for (const within of [other, wanted, `${other}${wanted}${other}`, wanted.slice(1).repeat(times)])
          assert.equal(createSearch(wanted)(within), within.includes(wanted))
      }),
    )
  })

  it('looks at each character once: what would take minutes is over', () => {
    const isIn = createSearch(`b${'a'.repeat(100_000)}`)
    assert.equal(isIn('a'.repeat(250_000)), false)
    assert.equal(createSearch(`${'a'.repeat(100_000)}b`)('a'.repeat(250_000)), false)
  })
})
