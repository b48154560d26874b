import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { OutOfSpace } from '../platform/outages.ts'
import { watchRoom } from '../platform/room.ts'
import { createMakers } from './makers.ts'

const repoOf = (org_id: string) => ({ org_id, expires_at: null })
const staying = new AbortController().signal

/** Somebody who is at it until they are let go. */
function begin(makers: ReturnType<typeof createMakers>, org: string, signal = staying) {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const maker = { hasBegun: false, end, done: Promise.resolve() }
  maker.done = makers.make(repoOf(org), signal, async () => {
    maker.hasBegun = true
    await promise
  })
  return maker
}

it('begins what another organization makes, however much one has begun', async () => {
  const makers = createMakers(watchRoom(tmpdir()))
  const crowd = Array.from({ length: 40 }, () => begin(makers, 'crowd'))
  const alone = begin(makers, 'alone')
  while (!alone.hasBegun) await sleep(1)
  const begun = crowd.filter(({ hasBegun }) => hasBegun)
  assert.ok(begun.length < crowd.length / 2, `${begun.length} have begun`)
  for (const { end } of [...crowd, alone]) end()
  await Promise.all([...crowd, alone].map(({ done }) => done))
  assert.ok(crowd.every(({ hasBegun }) => hasBegun))
})

it('makes nothing for those who left while they waited', async () => {
  const makers = createMakers(watchRoom(tmpdir()))
  const crowd = Array.from({ length: 40 }, () => begin(makers, 'crowd'))
  const leaving = new AbortController()
  const gone = begin(makers, 'crowd', leaving.signal)
  const left = assert.rejects(gone.done, { name: 'AbortError' })
  leaving.abort()
  for (const { end } of crowd) end()
  await left
  await Promise.all(crowd.map(({ done }) => done))
  assert.equal(gone.hasBegun, false)
})

it('makes nothing that could not be kept', async () => {
  const makers = createMakers({ left: async () => 0, isShort: async () => true })
  const refused = begin(makers, 'org')
  await assert.rejects(refused.done, OutOfSpace)
  assert.equal(refused.hasBegun, false)
})
