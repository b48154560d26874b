import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBag } from './bag.ts'

describe('a bag', () => {
  const item = (name: string) => ({ name, place: 0 })
  const names = (bag: Iterable<{ name: string }>) =>
    [...bag]
      .map(({ name }) => name)
      .toSorted()
      .join('')

  it('has what was added and not removed, whatever is removed first', () => {
    const bag = createBag<ReturnType<typeof item>>()
    const items = [...'abcde'].map(item)
    for (const each of items) bag.add(each)
    for (const [i, left] of [
      [2, 'abde'],
      [4, 'abd'],
      [0, 'bd'],
      [1, 'd'],
      [3, ''],
    ] as const) {
      bag.remove(items[i] as ReturnType<typeof item>)
      assert.equal(names(bag), left)
    }
  })

  it('loses nothing when something is removed that is not in it', () => {
    const bag = createBag<ReturnType<typeof item>>()
    const [a, b] = [item('a'), item('b')]
    bag.remove(a)
    bag.add(a)
    bag.add(b)
    bag.remove(a)
    bag.remove(a)
    bag.remove(item('c'))
    assert.equal(names(bag), 'b')
  })
})
