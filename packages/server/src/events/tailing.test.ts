import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { NumberedEvent } from '@trellis/contract'
import { newId } from '../platform/ids.ts'
import type { Schema } from '../schema.ts'
import { createSqlite, useDatabase } from '../testing/index.ts'
import { countTurns } from '../testing/turns.ts'
import { bySystem, createEventsService } from './service.ts'
import { createTailing } from './tailing.ts'
import { repoScope } from './types.ts'

const database = useDatabase<Schema>(createSqlite, {})

it('a tail that is told of something while somebody looks goes on', async () => {
  const scope = repoScope('repo_1')
  const looks: { isOn: boolean; wait: PromiseWithResolvers<void>; seen: PromiseWithResolvers<void> } = {
    isOn: false,
    wait: Promise.withResolvers(),
    seen: Promise.withResolvers(),
  }
  // What one look finds is held back until it is old.
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      const isLook = looks.isOn && result.rows.some((row) => 'last_seq' in row)
      if (isLook) {
        looks.isOn = false
        looks.seen.resolve()
        await looks.wait.promise
      }
      return result
    },
  })
  const tailing = createTailing({
    database: { db, afterCommit: database.afterCommit, settled: database.settled },
  })
  const events = createEventsService({
    database,
    clock: Date.now,
    newId,
    subscribers: [tailing.subscriber],
  })
  const say = () => database.transact((tx) => events.append(tx, { ...bySystem, scope, type: 'repo.created' }))
  const told: number[] = []
  const heard = new Map([1, 2, 3].map((seq) => [seq, Promise.withResolvers<void>()]))
  let hasEnded = false
  const listener = {
    take({ seq }: NumberedEvent) {
      told.push(seq)
      heard.get(seq)?.resolve()
      return true
    },
    ready: async () => {},
    end: () => {
      hasEnded = true
    },
  }

  await say()
  const following = tailing.follow(scope, 0, listener)
  await heard.get(1)?.promise
  looks.isOn = true
  await looks.seen.promise
  await say()
  await heard.get(2)?.promise
  looks.wait.resolve()
  await say()
  await heard.get(3)?.promise
  assert.deepEqual([told, hasEnded], [[1, 2, 3], false])

  await database.transact(async (tx) => {
    await tx.deleteFrom('events').where('scope', '=', scope).execute()
    await tx.deleteFrom('event_counters').where('scope', '=', scope).execute()
  })
  const ended = Promise.withResolvers<void>()
  listener.end = ended.resolve
  await ended.promise
  following.stop()
})

it('a tail that takes all of a long log lets others in meanwhile', async () => {
  const scope = repoScope('repo_2')
  const events = createEventsService({ database, clock: Date.now, newId, subscribers: [] })
  await database.transact(async (tx) => {
    for (let i = 0; i < 100; i++) await events.append(tx, { ...bySystem, scope, type: 'repo.created' })
  })
  const tailing = createTailing({ database })
  const hasAll = Promise.withResolvers<void>()
  using turns = countTurns()
  const following = tailing.follow(scope, 0, {
    take({ seq }) {
      for (const until = performance.now() + 1; performance.now() < until; );
      if (seq === 100) hasAll.resolve()
      return true
    },
    ready: async () => {},
    end: () => {},
  })
  await hasAll.promise
  following.stop()
  // One for every two milliseconds.
  assert.ok(turns.count >= 30, `${turns.count} turns`)
})

it('a tail is told of nothing that may still be taken back', async () => {
  const scope = repoScope('repo_3')
  const events = createEventsService({ database, clock: Date.now, newId, subscribers: [] })
  await database.transact((tx) => events.append(tx, { ...bySystem, scope, type: 'repo.created' }))
  const settled = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const tailing = createTailing({
    database: {
      db: database.db,
      afterCommit: database.afterCommit,
      settled() {
        asked.resolve()
        return settled.promise
      },
    },
  })
  const heard = Promise.withResolvers<void>()
  let isTold = false
  const following = tailing.follow(scope, 0, {
    take() {
      isTold = true
      heard.resolve()
      return true
    },
    ready: async () => {},
    end: () => {},
  })
  await asked.promise
  await new Promise(setImmediate)
  assert.equal(isTold, false)
  settled.resolve()
  await heard.promise
  following.stop()
})
