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

  it('are blanked however deep they are, which costs no more than what is shallow', () => {
    const levels = 8_000
    const deep = JSON.parse(`${'['.repeat(levels)}"hunter2-and-more"${']'.repeat(levels)}`)
    const blanked = JSON.stringify(blank(deep))
    assert.ok(!blanked.includes('hunter2'))
    assert.ok(blanked.includes('***'))
  })
})
