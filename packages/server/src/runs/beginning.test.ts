import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Place } from '../background/desk.ts'
import { createEventsService } from '../events/service.ts'
import { newId } from '../platform/ids.ts'
import type { Schema } from '../schema.ts'
import { onEachDatabase, useDatabase } from '../testing/index.ts'
import { createBeginning } from './beginning.ts'
import { asked } from './causes.ts'
import { createKeptRoom } from './kept-room.ts'
import type { LaneRules } from './lanes.ts'
import { findQueue } from './queue-store.ts'
import { findRun, type RunRow } from './store.ts'
import { createTaking } from './taking.ts'
import { createTransitions, type NewRun } from './transitions.ts'

const RULES: LaneRules = { places: 4, perOrg: 1, forFirst: 2, forLight: 1, forProvisional: 1 }

const runOf = (orgId: string, isProvisional = false): NewRun => ({
  repo: { id: 'repo_1', orgId, isProvisional },
  target: {
    name: 'one',
    runtime: 'worker',
    commit: 'c',
    moduleHash: 'm',
    dispatch: true,
    capabilities: [],
    effective: [],
    inputSchema: undefined,
    outputSchema: undefined,
    canonicalCommit: null,
    canonicalDescriptorHash: null,
    canonicalGrantHash: null,
  },
  trigger: 'dispatch',
  actor: { kind: 'user', id: 'usr_1' },
  ref: 'main',
  commit: null,
  effective: [],
  input: '{}',
  origin: asked,
})

onEachDatabase('a run that somebody asks for', (create) => {
  const database = useDatabase<Schema>(create, {})
  let rings = 0
  const filled: string[][] = []
  let inHand: RunRow[] = []

  /** Whether a place is free is asked here, and what was put into it told. */
  function begin() {
    const events = createEventsService({ database, clock: Date.now, newId })
    const wake = () => void rings++
    const transitions = createTransitions({
      database,
      clock: Date.now,
      newId,
      keptRoom: createKeptRoom({ keptBytesPerOrg: 1_000_000 }),
      wake,
      onEnded() {},
      onArrived() {},
      onOverfull() {},
    })
    const lanes = { worker: RULES, sandbox: RULES }
    const place: Place<RunRow> = {
      workerId: 'w',
      fill: (items) => void filled.push(items.map(({ id }) => id)),
    }
    const desk = {
      reserve: (fits: (held: readonly RunRow[], promised: number) => boolean) =>
        fits(inHand, 0) ? place : undefined,
      open() {},
    }
    const taking = createTaking({ database, events, clock: Date.now, transitions, lanes })
    const { queue } = createBeginning({ database, events, transitions, taking, lanes, desk })
    return { events, queue: (run: NewRun) => queue(run, async () => {}) }
  }

  it('begins as it is queued where there is room, and is told as if it had waited', async () => {
    const { events, queue } = begin()
    const run = await queue(runOf('org_1'))
    assert.equal(run.status, 'queued')
    const row = await findRun(database.db, run.id)
    assert.deepEqual([row?.status, row?.worker_id, row?.ready], ['running', 'w', 0])
    assert.deepEqual([filled.splice(0), rings], [[[run.id]], 0])
    assert.deepEqual(await findQueue(database.db, { orgId: 'org_1', lane: 'worker' }), {
      ready: 0,
      running: 1,
    })
    for (const scope of [`run:${run.id}`, 'repo:repo_1'] as const) {
      const { items } = await events.list({ scope, order: 'oldest', limit: 10 })
      assert.deepEqual(
        items.map(({ type }) => type),
        ['run.queued', 'run.started'],
      )
    }
  })

  it('waits behind others of its organization, and while few places are free', async () => {
    const { queue } = begin()
    const statusOf = async (run: NewRun) => (await findRun(database.db, (await queue(run)).id))?.status
    assert.equal(await statusOf(runOf('org_1')), 'queued')
    assert.deepEqual([filled.splice(0), rings], [[[]], 1])
    assert.equal(await statusOf(runOf('org_2', true)), 'queued')
    const row = (await findRun(database.db, (await queue(runOf('org_3'))).id)) as RunRow
    inHand = [row, row]
    assert.equal(await statusOf(runOf('org_4')), 'queued')
    assert.equal(rings, 3)
    assert.deepEqual(filled.splice(0), [[row.id]])
  })

  it('gives its place back when it is not to be', async () => {
    inHand = []
    const { queue } = begin()
    const nobody = { ...runOf('org_5'), input: undefined as unknown as string }
    await assert.rejects(queue(nobody))
    assert.deepEqual(filled.splice(0), [[]])
  })
})
