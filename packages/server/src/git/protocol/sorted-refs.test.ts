import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Oid, RefName } from '../names.ts'
import type { Ref } from './advertisement.ts'
import { compareNames, type MovedRef, SortedRefs } from './sorted-refs.ts'

const names = fc.string({ unit: fc.constantFrom('a', 'b', '/', '-', '\uff5e', '\u{1f600}'), maxLength: 3 })
const oids = fc.constantFrom(...['1', '2', '3'].map((digit) => digit.repeat(40) as Oid))

const sorted = (refs: ReadonlyMap<string, Oid>): Ref[] =>
  [...refs]
    .map(([name, oid]) => ({ name: name as RefName, oid, peeled: null }))
    .sort((a, b) => compareNames(a.name, b.name))

const move = (name: string, oid: Oid | null): MovedRef => ({
  name: name as RefName,
  ref: oid && { name: name as RefName, oid, peeled: null },
})

const below = (refs: SortedRefs, prefix: string): Ref[] =>
  [...refs.below(prefix)].flatMap(({ block, from, to }) => block.slice(from, to))

describe('sorted refs', () => {
  it('are in the order of the bytes of their names', () => {
    const any = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(any, any, any, (start, a, b) => {
        const [one, other] = [start + a, start + b]
        const bytes = Buffer.compare(Buffer.from(one), Buffer.from(other))
        assert.equal(Math.sign(compareNames(one, other)), bytes)
      }),
    )
  })

  it('are after moves what a map would hold, and before them what they were', () => {
    const moves = fc.array(fc.tuple(names, fc.option(oids)))
    fc.assert(
      fc.property(fc.array(fc.tuple(names, oids)), fc.array(moves), names, (start, steps, prefix) => {
        const map = new Map(start)
        const first = sorted(map)
        const before = SortedRefs.of(first)
        let after = before
        for (const step of steps) {
          for (const [name, oid] of step)
            if (oid) map.set(name, oid)
            else map.delete(name)
          after = after.with(step.map(([name, oid]) => move(name, oid)))
        }
        const expected = sorted(map)
        assert.deepEqual([...after], expected)
        assert.equal(after.length, expected.length)
        assert.deepEqual([...before], first)
        for (const name of [...map.keys(), ...steps.flat().map(([moved]) => moved)])
          assert.equal(after.find(name as RefName)?.oid, map.get(name))
        assert.deepEqual(
          below(after, prefix),
          expected.filter(({ name }) => name.startsWith(prefix)),
        )
      }),
    )
  })

  it('share what has not moved, however many there are', () => {
    const oid = '1'.repeat(40) as Oid
    const many = new Map(Array.from({ length: 3_000 }, (_, i) => [`refs/heads/b${i}`, oid]))
    let list = SortedRefs.of(sorted(many))
    const start = new Set(list.blocks)
    list = list.with([move('refs/heads/b1500', '2'.repeat(40) as Oid)])
    assert.equal(list.blocks.filter((block) => !start.has(block)).length, 1)
    for (let i = 0; i < 2_000; i++) {
      const name = `refs/heads/b1500-${(i * 7919) % 2_000}`
      many.set(name, oid)
      list = list.with([move(name, oid)])
    }
    many.set('refs/heads/b1500', '2'.repeat(40) as Oid)
    for (let i = 0; i < 1_000; i++) {
      many.delete(`refs/heads/b${i}`)
      list = list.with([move(`refs/heads/b${i}`, null)])
    }
    assert.deepEqual([...list], sorted(many))
    assert.ok(list.blocks.every(({ length }) => length > 0 && length <= 512))
    for (const prefix of ['refs/heads/b1500-', 'refs/heads/', 'refs/heads/b29', 'refs/tags/', ''])
      assert.deepEqual(
        below(list, prefix),
        sorted(many).filter(({ name }) => name.startsWith(prefix)),
      )
  })
})
