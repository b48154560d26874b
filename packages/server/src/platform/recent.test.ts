import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRecent } from './recent.ts'

describe('a map of what is recent', () => {
  const kept = (map: { get(key: string): unknown }, keys: string) =>
    [...keys].filter((key) => map.get(key) !== undefined).join('')

  it('forgets what was set first, as long as nobody asks for anything', () => {
    const map = createRecent<string, number>({ maxEntries: 2 })
    for (const [i, key] of [...'abc'].entries()) map.set(key, i)
    assert.equal(map.get('a'), undefined)
    assert.deepEqual([map.get('b'), map.get('c')], [1, 2])
  })

  it('keeps what is asked for or set again', () => {
    const map = createRecent<string, number>({ maxEntries: 3 })
    for (const key of 'abc') map.set(key, 1)
    map.get('a')
    map.set('b', 2)
    map.set('d', 1)
    assert.equal(kept(map, 'abcd'), 'abd')
    assert.equal(map.get('b'), 2)
  })

  it('makes room by weight, and counts what is replaced only once', () => {
    const map = createRecent<string, string>({
      maxEntries: 100,
      weight: { of: (text) => text.length, max: 10 },
    })
    map.set('a', 'xxxx')
    map.set('b', 'xxxx')
    for (let i = 0; i < 5; i++) map.set('b', 'xx')
    map.set('c', 'xxxx')
    assert.equal(kept(map, 'abc'), 'abc')
    map.set('d', 'xxxxx')
    assert.equal(kept(map, 'abcd'), 'cd')
  })

  it('does not keep what is too heavy by itself, nor what it replaces', () => {
    const map = createRecent<string, string>({
      maxEntries: 100,
      weight: { of: (text) => text.length, max: 3 },
    })
    map.set('a', 'xx')
    map.set('b', 'x')
    map.set('b', 'xxxx')
    assert.equal(kept(map, 'ab'), 'a')
    map.set('c', 'x')
    assert.equal(kept(map, 'abc'), 'ac')
  })

  it('is empty once it is cleared', () => {
    const map = createRecent<string, string>({ maxEntries: 2, weight: { of: () => 1, max: 2 } })
    map.set('a', 'x')
    map.clear()
    assert.equal(map.get('a'), undefined)
    map.set('b', 'x')
    map.set('c', 'x')
    assert.equal(kept(map, 'bc'), 'bc')
  })
})
