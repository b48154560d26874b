import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../platform/log.ts'
import { createRegistry, type Registry } from '../platform/metrics.ts'
import { createUnderWay } from '../platform/under-way.ts'
import type { Database, Schema } from '../schema.ts'
import { createSqlite, onEachDatabase, useDatabase } from '../testing/index.ts'
import { startBackground } from './background.ts'
import { createBell } from './bell.ts'
import { createDesk } from './desk.ts'
import { createHints, hinted } from './hinted.ts'
import { leased } from './leased.ts'
import { periodic } from './periodic.ts'
import type { Work } from './work.ts'

/** A server's background without the server. */
function start(
  database: Database,
  works: Work[],
  { shutdownMs = 1_000, clock = Date.now }: { shutdownMs?: number; clock?: () => number } = {},
  stopwatch = clock,
) {
  const logged: string[] = []
  const registry: Registry = createRegistry()
  const log = createLog('debug', (lines) => logged.push(lines))
  const background = startBackground(works, {
    database,
    clock,
    stopwatch,
    log,
    registry,
    underWay: createUnderWay(1_000),
    shutdownMs,
  })
  return {
    ...background,
    logged: () => {
      log.flush()
      return logged.join('')
    },
    metric: async (line: string) =>
      (await registry.metrics()).split('\n').find((one) => one.startsWith(line)),
  }
}

/** Looks at what comes in large bursts, and is at it until it is let go. */
function lookingOn(database: Database, bounds: { largestBurst: number; atOnce?: number }) {
  const hints = createHints()
  const seen: string[] = []
  const free = Promise.withResolvers<void>()
  const looking = hinted({
    name: 'looking',
    hints,
    settleMs: 600_000,
    longestBurstMs: 600_000,
    ...bounds,
    run: async (key) => {
      seen.push(key)
      await free.promise
    },
  })
  return { hints, seen, free, background: start(database, [looking]) }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 5) {
    assert.ok(waited < 10_000, 'waited too long')
    await sleep(5)
  }
}

describe('background work', () => {
  const database = useDatabase<Schema>(createSqlite, {})

  it('goes on after a failure, which is logged and counted', async () => {
    let runs = 0
    const failing = periodic({
      name: 'failing',
      everyMs: 5,
      where: 'each process',
      run: async () => {
        runs++
        if (runs === 1) throw new Error('the first time')
      },
    })
    const background = start(database, [failing])
    await until(() => runs > 2)
    await background.stop()
    assert.match(background.logged(), /"work":"failing".*the first time/)
    assert.match(
      (await background.metric('trellis_background_runs_total{work="failing",outcome="failure"}')) ?? '',
      / 1$/,
    )
  })

  it('is never under way twice, and not again after the stop', async () => {
    let atOnce = 0
    let most = 0
    let runs = 0
    const slow = periodic({
      name: 'slow',
      everyMs: 2,
      where: 'each process',
      atStart: true,
      run: async () => {
        most = Math.max(most, ++atOnce)
        await sleep(20)
        atOnce--
        runs++
      },
    })
    const background = start(database, [slow])
    await Promise.all([until(() => runs > 2), background.run('slow'), background.run('slow')])
    await background.stop()
    const stoppedAt = runs
    await sleep(30)
    assert.deepEqual([most, runs, atOnce], [1, stoppedAt, 0])
  })

  it('is told to stop, and left behind when it does not heed that', async () => {
    let heard = false
    const heeding = periodic({
      name: 'heeding',
      everyMs: 60_000,
      where: 'each process',
      atStart: true,
      run: (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            heard = true
            reject(signal.reason)
          })
        }),
    })
    const deaf = periodic({
      name: 'deaf',
      everyMs: 60_000,
      where: 'each process',
      atStart: true,
      run: () => new Promise(() => {}),
    })
    const background = start(database, [heeding, deaf], { shutdownMs: 10 })
    await sleep(5)
    await background.stop()
    assert.equal(heard, true)
    assert.match(background.logged(), /did not stop in time","work":\["deaf"\]/)
    assert.doesNotMatch(background.logged(), /heeding/)
  })

  it('looks once at what many hints were about', async () => {
    const hints = createHints()
    const seen: string[] = []
    const looking = hinted({
      name: 'looking',
      hints,
      settleMs: 20,
      longestBurstMs: 1_000,
      run: async (key) => void seen.push(key),
    })
    const background = start(database, [looking])
    for (let i = 0; i < 5; i++) {
      hints.hint('a')
      hints.hint('b')
      await sleep(2)
    }
    await until(() => seen.length === 2)
    hints.hint('a')
    await background.stop()
    assert.deepEqual(seen.toSorted(), ['a', 'b'])
  })

  it('looks at a large burst before it is over, and only once where it has not come to it yet', async () => {
    const { hints, seen, free, background } = lookingOn(database, { largestBurst: 3 })
    for (const key of ['a', 'a', 'b', 'a']) hints.hint(key)
    await until(() => seen.length === 1)
    // It is being looked at: what is hinted now may be too late for that.
    for (let i = 0; i < 8; i++) hints.hint('a')
    for (let i = 0; i < 2; i++) hints.hint('b')
    free.resolve()
    await until(() => seen.length === 3)
    await background.stop()
    assert.deepEqual(seen, ['a', 'a', 'b'])
  })

  it('looks at several things at the same time, and at none of them twice', async () => {
    const { hints, seen: underWay, free, background } = lookingOn(database, { largestBurst: 1, atOnce: 2 })
    hints.hint('a')
    await until(() => underWay.length === 1)
    hints.hint('a')
    hints.hint('b')
    await until(() => underWay.length === 2)
    assert.deepEqual(underWay, ['a', 'b'])
    free.resolve()
    await until(() => underWay.length === 3)
    await background.stop()
  })
})

onEachDatabase('background work of several processes', (create) => {
  const database = useDatabase<Schema>(create, {})

  it('is done by one of them when one is enough, again when it is due, and after a clock that was wrong', async () => {
    let now = 1_000_000
    const done: string[] = []
    const job = (process: string) =>
      periodic({
        name: 'shared',
        everyMs: 10,
        where: 'one process',
        atStart: true,
        run: async () => void done.push(process),
      })
    const backgrounds = ['a', 'b', 'c'].map((name) => start(database, [job(name)], { clock: () => now }))
    await until(() => done.length === 1)
    await sleep(50)
    assert.equal(done.length, 1)
    now += 10
    await until(() => done.length === 2)
    now -= 500_000
    await until(() => done.length >= 3)
    await sleep(50)
    await Promise.all(backgrounds.map(({ stop }) => stop()))
    // Who was asking in the moment the clock changed may take it once more.
    assert.ok(done.length <= 6, `${done.length} times`)
  })

  it('is taken in turns by processes whose clocks do not agree', async () => {
    const done: string[] = []
    const job = (process: string) =>
      periodic({
        name: 'agreed',
        everyMs: 200,
        where: 'one process',
        atStart: true,
        run: async () => void done.push(process),
      })
    const ahead = start(database, [job('ahead')], { clock: () => 1_000_150 })
    await until(() => done.length === 1)
    const behind = start(database, [job('behind')], { clock: () => 1_000_000 })
    await sleep(300)
    assert.deepEqual(done, ['ahead'])
    await Promise.all([ahead.stop(), behind.stop()])
  })

  it('deletes nothing by a clock that has jumped, until that has run evenly for an hour', async () => {
    let now = 1_000_000
    let passed = 0
    let runs = 0
    const deleting = periodic({
      name: 'deleting',
      everyMs: 60_000,
      where: 'each process',
      deletesByClock: true,
      run: async () => void runs++,
    })
    const background = start(database, [deleting], { clock: () => now + passed }, () => passed)
    await background.run('deleting')
    assert.equal(runs, 1)
    for (const jump of [86_400_000, -86_400_000]) {
      now += jump
      runs = 0
      await background.run('deleting')
      passed += 59 * 60_000
      await background.run('deleting')
      assert.equal(runs, 0)
      passed += 60_000
      await background.run('deleting')
      assert.equal(runs, 1)
    }
    await background.stop()
    assert.match(background.logged(), /the clock has jumped.*"work":"deleting"/)
  })

  it('is shared item by item, and taken over from one that is silent', async () => {
    const items = new Map(['x', 'y', 'z'].map((id) => [id, { id, worker: null as string | null }]))
    const worked: string[] = []
    let now = 1_000_000
    const isAlive = async (id: string | null) =>
      id !== null &&
      (await database.db
        .selectFrom('workers')
        .select('id')
        .where('id', '=', id)
        .where('alive_until', '>', now)
        .executeTakeFirst()) !== undefined
    const sharing = (name: string, work: (id: string) => Promise<void>) =>
      leased<{ id: string }>({
        name,
        concurrency: 2,
        leaseMs: 30_000,
        bell: createBell(),
        keyOf: ({ id }) => id,
        async claim({ workerId, room }) {
          const free = []
          for (const item of items.values()) {
            if (free.length === room || (await isAlive(item.worker))) continue
            item.worker = workerId
            free.push(item)
          }
          return free
        },
        async work({ id }) {
          worked.push(`${name} ${id}`)
          await work(id)
          items.delete(id)
        },
        async giveBack(ids) {
          for (const id of ids) (items.get(id) ?? { worker: null }).worker = null
        },
      })
    const clock = () => now
    const stuck = start(database, [sharing('stuck', () => new Promise(() => {}))], { clock, shutdownMs: 10 })
    await until(() => worked.length === 2)
    const quick = start(database, [sharing('quick', async () => {})], { clock })
    await until(() => worked.includes('quick z'))
    await sleep(50)
    assert.deepEqual(worked, ['stuck x', 'stuck y', 'quick z'])
    // It has not said that it lives for longer than its lease.
    now += 31_000
    await until(() => items.size === 0)
    assert.deepEqual(worked.toSorted(), ['quick x', 'quick y', 'quick z', 'stuck x', 'stuck y'])
    await Promise.all([quick.stop(), stuck.stop()])
  })

  it('says once that nothing can be taken, and once that it can again', async () => {
    let looks = 0
    let isFull = true
    const bell = createBell()
    const full = leased<{ id: string }>({
      name: 'full',
      concurrency: 1,
      leaseMs: 30_000,
      bell,
      keyOf: ({ id }) => id,
      async claim() {
        looks++
        if (isFull) throw new Error('no room left')
        return []
      },
      work: async () => {},
      giveBack: async () => {},
    })
    const background = start(database, [full])
    const lookTo = (count: number) =>
      until(() => {
        bell.ring()
        return looks >= count
      })
    await lookTo(3)
    isFull = false
    await lookTo(looks + 3)
    await background.stop()
    const said = background.logged().match(/could not be taken|can be taken again/g)
    assert.deepEqual(said, ['could not be taken', 'can be taken again'])
  })

  it('is handed what somebody makes for it, takes nothing meanwhile, and waits for that when it stops', async () => {
    const worked: string[] = []
    let claims = 0
    const bell = createBell()
    const desk = createDesk<{ id: string }>()
    const handed = leased<{ id: string }>({
      name: 'handed',
      concurrency: 2,
      leaseMs: 30_000,
      bell,
      desk,
      keyOf: ({ id }) => id,
      async claim() {
        claims++
        return []
      },
      work: async ({ id }) => void worked.push(id),
      giveBack: async () => {},
    })
    const background = start(database, [handed])
    const reserved = async () => {
      const places: ReturnType<typeof desk.reserve>[] = []
      await until(() => places.push(desk.reserve(() => true)) > 0 && places.at(-1) !== undefined)
      return places.at(-1)
    }
    const first = await reserved()
    const claimed = claims
    bell.ring()
    assert.equal(
      desk.reserve(() => true),
      undefined,
    )
    await sleep(20)
    assert.equal(claims, claimed)
    first?.fill([{ id: 'x' }])
    await until(() => claims > claimed && worked.length === 1)
    const last = await reserved()
    assert.equal(
      desk.reserve((inHand, promised) => inHand.length + promised < 1),
      undefined,
    )
    const stopped = background.stop()
    assert.equal(
      desk.reserve(() => true),
      undefined,
    )
    last?.fill([{ id: 'y' }])
    await stopped
    assert.deepEqual(worked, ['x', 'y'])
  })
})
