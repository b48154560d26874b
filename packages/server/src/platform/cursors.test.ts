import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { numberCursor, pageFrom, textCursor } from './cursors.ts'

const garbage = [
  '',
  ' ',
  'garbage',
  '%%%',
  '\0',
  '💥',
  '"',
  'null',
  'AAAA',
  Buffer.from('c0:x').toString('base64url'),
  Buffer.from('c1:a\0b').toString('base64url'),
]

describe('cursors', () => {
  it('give back the text a page ended with', () => {
    for (const text of ['a', 'hello', 'Ä😀', 'c1:c1:', ' ', 'x'.repeat(1000)])
      assert.equal(textCursor.decode(textCursor.encode(text)), text)
  })

  it('give back the number a page ended with', () => {
    for (const number of [0, 1, -1, 12_345, Number.MAX_SAFE_INTEGER])
      assert.equal(numberCursor.decode(numberCursor.encode(number)), number)
  })

  it('can stand in a URL and a JSON string as they are', () => {
    for (const text of ['a?b&c', '~~~???>>>', '😀😀'])
      assert.match(textCursor.encode(text), /^[A-Za-z0-9_-]+$/)
  })

  it('are no cursor at all when they cannot be read', () => {
    for (const cursor of [undefined, ...garbage]) {
      assert.equal(textCursor.decode(cursor), undefined, JSON.stringify(cursor))
      assert.equal(numberCursor.decode(cursor), undefined, JSON.stringify(cursor))
    }
  })

  it('of text are no cursor where a number is wanted', () => {
    for (const text of ['a', '', '1.5', '9007199254740993', 'NaN', 'Infinity', '1e400'])
      assert.equal(numberCursor.decode(textCursor.encode(text)), undefined, text)
  })
})

describe('a page', () => {
  const cursorOf = (row: string) => `after ${row}`

  it('has a cursor when one row more was found', () => {
    assert.deepEqual(pageFrom(['a', 'b', 'c'], 2, cursorOf), { items: ['a', 'b'], nextCursor: 'after b' })
  })

  it('has none when it is the last, full or not', () => {
    assert.deepEqual(pageFrom(['a', 'b'], 2, cursorOf), { items: ['a', 'b'], nextCursor: null })
    assert.deepEqual(pageFrom(['a'], 2, cursorOf), { items: ['a'], nextCursor: null })
    assert.deepEqual(pageFrom([], 2, cursorOf), { items: [], nextCursor: null })
  })
})
