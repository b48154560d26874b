import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { CtxCall } from './methods.ts'
import { eventMethods } from './others.ts'

it('a run emits so many events, and so much in all, and no more', async () => {
  const deps = { database: { transact: async () => {} }, events: {} }
  const emit = eventMethods(deps as unknown as Parameters<typeof eventMethods>[0])['events.emit']
  const emitted = async (payload: string) => {
    const call = { run: {}, repo: {}, caller: {}, args: ['zoo.flood', { payload }] } as unknown as CtxCall
    for (let count = 0; ; count++)
      try {
        await emit?.perform(call)
      } catch (error) {
        assert.equal((error as { code: string }).code, 'TOO_MANY_REQUESTS')
        return count
      }
  }
  assert.equal(await emitted(''), 1_000)
  assert.equal(await emitted('x'.repeat(2 ** 16 - 2)), 128)
})
