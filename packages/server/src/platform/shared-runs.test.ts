import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSharedRuns } from './shared-runs.ts'

function createRuns() {
  const begun: { key: string; end: PromiseWithResolvers<void> }[] = []
  const share = createSharedRuns((key: string) => {
    const end = Promise.withResolvers<void>()
    begun.push({ key, end })
    return end.promise
  })
  return { begun, share }
}

const settled = () => new Promise(setImmediate)

describe('shared runs', () => {
  it('one for all who come while another is under way, which began too early for them', async () => {
    const { begun, share } = createRuns()
    const done: string[] = []
    const first = share('a').then(() => done.push('first'))
    const later = ['second', 'third'].map((name) => share('a').then(() => done.push(name)))
    assert.equal(begun.length, 1)

    begun[0]?.end.resolve()
    await first
    await settled()
    assert.deepEqual(done, ['first'])
    assert.equal(begun.length, 2)

    begun[1]?.end.resolve()
    await Promise.all(later)
    assert.deepEqual(done, ['first', 'second', 'third'])
    assert.equal(begun.length, 2)
  })

  it('fail for those who share them, and not for the next', async () => {
    const { begun, share } = createRuns()
    const failing = share('a')
    const next = share('a')
    begun[0]?.end.reject(new Error('full'))
    await assert.rejects(failing, /full/)
    await settled()
    begun[1]?.end.resolve()
    await next
  })

  it('do not wait for those of something else', () => {
    const { begun, share } = createRuns()
    share('a')
    share('b')
    assert.deepEqual(
      begun.map(({ key }) => key),
      ['a', 'b'],
    )
  })
})
