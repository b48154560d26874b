import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Schema } from '../schema.ts'
import { onEachDatabase, useDatabase } from '../testing/index.ts'
import { Fault } from './fault.ts'
import { createThrottles } from './throttles.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

onEachDatabase('a throttle', (create) => {
  const database = useDatabase<Schema>(create, {})

  function throttled(key: string) {
    let now = 1_000 * DAY_MS
    const throttles = createThrottles({ database, clock: () => now })
    return {
      setClock: (byMs: number) => {
        now += byMs
      },
      /** How long to wait, 0 when it was let through. */
      async take(): Promise<number> {
        try {
          await throttles.take(key, { count: 2, windowMs: HOUR_MS })
          return 0
        } catch (error) {
          assert.ok(error instanceof Fault)
          return (error.data as { retryAfterMs: number }).retryAfterMs
        }
      },
    }
  }

  it('lets so many through in a window, and as many in the next', async () => {
    const { take, setClock } = throttled('plain')
    assert.deepEqual([await take(), await take(), await take()], [0, 0, HOUR_MS])
    setClock(HOUR_MS)
    assert.deepEqual([await take(), await take(), await take()], [0, 0, HOUR_MS])
  })

  it('still holds when the clock is set back, for no longer than its window', async () => {
    const { take, setClock } = throttled('set back')
    assert.deepEqual([await take(), await take()], [0, 0])
    setClock(-DAY_MS)
    assert.equal(await take(), HOUR_MS)
    setClock(HOUR_MS - 1)
    assert.equal(await take(), 1)
    setClock(1)
    assert.equal(await take(), 0)
  })
})
