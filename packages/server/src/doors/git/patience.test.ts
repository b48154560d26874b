import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import test from 'node:test'
import { createPace } from './patience.ts'

test('patience is used up by waiting, and comes back with what is taken', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  const pass = (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
  }
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const pace = createPace(() => now)
  const takes = async (bytes: number, ms: number) => {
    const waiting = pace.drained(response, bytes)
    pass(ms)
    response.emit('drain')
    await waiting
    return !response.destroyed
  }
  // Half of what is asked for, for as long as a minute's patience lasts; and no more of it than that in advance.
  assert.ok(await takes(1024 ** 3, 1))
  for (let second = 0; second < 100; second += 2) assert.ok(await takes(64 * 1024, 2_000), `${second} s`)
  for (let second = 0; second < 100; second++) assert.ok(await takes(64 * 1024, 1_000), `${second} s`)
  assert.ok(!(await takes(64 * 1024, 12_000)))
})
