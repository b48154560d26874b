import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSpaced } from './spaced.ts'

it('work that keeps others waiting goes one by one, with rests between, whether or not it succeeds', async () => {
  const spaced = createSpaced(2)
  const times: { begun: number; ended: number }[] = []
  const work = async () => {
    const begun = performance.now()
    await sleep(30)
    times.push({ begun, ended: performance.now() })
    return times.length
  }
  const failing = async () => {
    await work()
    throw new Error('It does not work')
  }
  const [first, second, third] = await Promise.allSettled([spaced(work), spaced(failing), spaced(work)])
  assert.deepEqual(
    [first, third].map((one) => one?.status === 'fulfilled' && one.value),
    [1, 3],
  )
  assert.equal(second?.status, 'rejected')
  // Less than twice as long, because a busy machine may stop anywhere between two looks at the clock.
  for (const [i, { begun, ended }] of times.slice(0, 2).entries())
    assert.ok((times[i + 1]?.begun ?? 0) - ended >= ended - begun)
})

it('work that leaves nobody in between is followed by its rest as well', async () => {
  const spaced = createSpaced(2)
  const times: { begun: number; ended: number }[] = []
  const work = async () => {
    const begun = performance.now()
    while (performance.now() - begun < 20);
    times.push({ begun, ended: performance.now() })
  }
  await Promise.all([spaced(work), spaced(work)])
  assert.ok((times[1]?.begun ?? 0) - (times[0]?.ended ?? 0) >= 20)
})
