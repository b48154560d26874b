import assert from 'node:assert/strict'
import { test } from 'node:test'
import { complaintsIn, progressOnly } from './progress.ts'

function told(...chunks: string[]): string {
  let text = ''
  const take = progressOnly((whole) => {
    text += whole
  })
  for (const chunk of chunks) take(Buffer.from(chunk))
  return text
}

test('progress is handed on line by line, however it comes', () => {
  assert.equal(
    told('Counting: 1\rCount', 'ing: 2\r', 'done.\n', 'unfinish'),
    'Counting: 1\rCounting: 2\rdone.\n',
  )
})

test('of complaints nothing is handed on, wherever they are cut, and nothing after them', () => {
  const said = 'Counting: 1\nfatal: unable to read /srv/secret\nmore of it\n'
  for (let cut = 0; cut <= said.length; cut++)
    assert.doesNotMatch(told(said.slice(0, cut), said.slice(cut)), /fat|secret|more/)
  assert.equal(told('Counting: 1\n', 'error: x\n'), 'Counting: 1\n')
})

test('finds all complaints', () => {
  assert.deepEqual(complaintsIn('a\rfatal: one\nwarning: two\nno error: here\n'), ['one', 'two'])
})
