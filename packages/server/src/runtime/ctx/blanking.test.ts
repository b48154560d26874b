import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBlank } from './blanking.ts'

describe('the values of secrets', () => {
  const pem = '-----BEGIN KEY-----\nMIIEvQIBADAN\n-----END KEY-----'
  const blank = createBlank(['hunter2-and-more', pem, 'short'])

  it('are blanked in texts, keys and whatever is nested', () => {
    assert.deepEqual(blank({ a: ['x hunter2-and-more y', 7], 'hunter2-and-more': null, b: 'short' }), {
      a: ['x *** y', 7],
      '***': null,
      b: 'short',
    })
  })

  it('are blanked where a text is JSON, and line by line', () => {
    assert.equal(blank(JSON.stringify({ key: pem })), '{"key":"***"}')
    assert.equal(blank('MIIEvQIBADAN'), '***')
    assert.equal(blank(`before\n${pem}\nafter`), 'before\n***\nafter')
  })

  it('are blanked together where one is a part of another', () => {
    const both = createBlank(['abcdefgh', 'efghijklm', 'abcdefgh-efgh-1'])
    assert.equal(both('x abcdefghijklm y abcdefgh-efgh-1 abcdefghabcdefgh'), 'x *** y *** ******')
  })

  it('leave nothing behind where they are cut in two', () => {
    const text = `begin hunter2-and-more and then ${pem} end`
    for (let most = 0; most <= text.length; most++) {
      const left = blank.cut(text, most)
      assert.ok(!/hu|MI|--/.test(left), left)
      assert.ok(left.startsWith(text.slice(0, Math.min(6, most))))
    }
    assert.equal(blank.cut('to be cut elsewhere: hunter2', 1_000), 'to be cut elsewhere: hunter2')
    assert.equal(blank.cut('cut elsewhere: hunter2', 22), 'cut elsewhere: ***')
    // One that ends like it begins, and one whose beginning is another one.
    assert.equal(createBlank(['abcabcabc']).cut('x abcabcabcabc', 14), 'x ***')
    assert.equal(createBlank(['12345678', '12345678-and-more']).cut('x 12345678-and-mo', 17), 'x ***')
  })

  it('are looked for at an end in the time it takes to read them', () => {
    const alike = createBlank([`${'a'.repeat(32_000)}b`])
    assert.equal(alike.cut(`x${'a'.repeat(100_000)}`, 50_001), `x${'a'.repeat(18_000)}***`)
  })

  it('are blanked however deep they are, which costs no more than what is shallow', () => {
    const levels = 8_000
    const deep = JSON.parse(`${'['.repeat(levels)}"hunter2-and-more"${']'.repeat(levels)}`)
    const blanked = JSON.stringify(blank(deep))
    assert.ok(!blanked.includes('hunter2'))
    assert.ok(blanked.includes('***'))
  })
})
