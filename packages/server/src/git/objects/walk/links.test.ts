import assert from 'node:assert/strict'
import test from 'node:test'
import { parseLinks } from './links.ts'

const [tree, one, two] = ['1', '2', '3'].map((digit) => digit.repeat(40))

const commit = (committer: string, { end = '\n\nmessage\n', parents = '' } = {}) =>
  Buffer.from(`tree ${tree}\n${parents}author A <a> 5 +0000\ncommitter ${committer}${end}`)

test('reads tree, parents and the date of the committer', () => {
  const parents = `parent ${one}\nparent ${two}\n`
  const date = 1_700_000_000
  assert.deepEqual(parseLinks(commit(`Ann <ann@example.org> ${date} +0100`, { parents })), {
    tree,
    parents: [one, two],
    date,
  })
  assert.deepEqual(parseLinks(commit(`<>\t${date}`)), { tree, parents: [], date })
  assert.equal(parseLinks(commit('Ann <a> yesterday'))?.date, 0)
})

test('leaves to git what one git may see and another not', () => {
  for (const odd of [
    // The digits may be taken from the next line, or the bracket from the name.
    commit('Ann <a>'),
    commit('Ann <a> '),
    commit('Ann > <a> 5 +0000'),
    commit('Ann'),
    // It is no number, or not one that fits everywhere.
    commit('Ann <a> -5 +0000'),
    commit('Ann <a> +5 +0000'),
    commit('Ann <a> 17000000000 +0000'),
    // Nothing follows, so some take it for cut off.
    commit('Ann <a> 5 +0000', { end: '\n' }),
    commit('Ann <a> 5 +0000', { end: '' }),
    commit('Ann <a> 5 +0000', { parents: `parent ${'A'.repeat(40)}\n` }),
    commit('Ann <a> 5 +0000', { parents: 'parent 12\n' }),
    Buffer.from(`parent ${one}\n`),
    Buffer.alloc(0),
  ])
    assert.equal(parseLinks(odd), undefined, odd.toString())
})
