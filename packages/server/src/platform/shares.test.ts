import assert from 'node:assert/strict'
import test from 'node:test'
import { createShares } from './shares.ts'

const create = (max: number, maxEach: number) => {
  const forgotten: string[] = []
  const shares = createShares<string>({
    max,
    maxEach,
    weightOf: ({ length }) => length,
    onForget: (value) => forgotten.push(value),
  })
  return { shares, forgotten }
}

test('one owner takes no more than its share, and loses its own', () => {
  const { shares, forgotten } = create(100, 10)
  shares.set('a', 'x', 'xxxxx')
  for (let i = 0; i < 20; i++) shares.set('b', String(i), `${i % 10}yyyy`)
  assert.equal(shares.get('a', 'x'), 'xxxxx')
  assert.equal(shares.get('b', '19'), '9yyyy')
  assert.equal(shares.get('b', '0'), undefined)
  assert.equal(shares.weight, 15)
  assert.equal(forgotten.length, 18)
})

test('when all is full, whoever has used nothing for the longest loses first', () => {
  const { shares, forgotten } = create(10, 10)
  shares.set('a', '1', 'aa')
  shares.set('a', '2', 'AA')
  shares.set('b', '1', 'bbb')
  assert.equal(shares.get('a', '1'), 'aa')
  shares.set('c', '1', 'cccc')
  assert.deepEqual([forgotten, shares.weight], [['bbb'], 8])
  shares.set('c', '2', 'cccc')
  assert.deepEqual([forgotten, shares.weight], [['bbb', 'aa'], 10])
  assert.equal(shares.get('b', '1'), undefined)
  // One that lost everything begins anew.
  shares.set('b', '1', 'BB')
  assert.equal(shares.get('b', '1'), 'BB')
  assert.equal(shares.weight, 10)
})

test('what is too heavy is not kept and costs nobody anything', () => {
  const { shares, forgotten } = create(10, 5)
  shares.set('a', '1', 'aaaaa')
  shares.set('a', '2', 'aaaaaa')
  assert.deepEqual([forgotten, shares.weight], [['aaaaaa'], 5])
  shares.forget('a', '1')
  shares.forget('a', '1')
  assert.deepEqual([forgotten.length, shares.weight], [2, 0])
  shares.set('a', '1', 'a')
  shares.set('a', '1', 'b')
  assert.deepEqual([shares.get('a', '1'), shares.weight], ['b', 1])
})
