import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ExtensionsService } from '../extensions/service.ts'
import { createLog } from '../platform/log.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Job, Outcome } from '../runtime/runtime.ts'
import { createPayloads } from './payloads.ts'

/** Payload modules of repositories whose organization is what comes before the slash, run by what the test says. */
function world(perform: (job: Job, signal: AbortSignal) => Promise<Outcome>, concurrency = 64) {
  const jobs: Job[] = []
  const makeBody = createPayloads({
    extensions: {
      openPayload: async (_repo: unknown, { hash }: { hash: string }) => ({ hash, code: '' }),
    } as unknown as ExtensionsService,
    repos: {
      find: async (id: string) => ({ id, expires_at: id.startsWith('anon') ? 1 : null }) as RepoRow,
    } as unknown as ReposService,
    worker: {
      run(job, _host, signal) {
        jobs.push(job)
        return perform(job, signal)
      },
      close: async () => {},
    },
    concurrency,
    log: createLog('error', () => {}),
    onAsked() {},
  })
  const make = (repoId: string, signal = AbortSignal.any([])) =>
    makeBody(
      {
        deliveryId: 'delivery',
        webhook: { id: repoId, name: 'ci' },
        orgId: repoId.split('/')[0] ?? '',
        repoId,
        moduleHash: 'sha256:1',
        event: { type: 'repo.updated' },
      },
      signal,
    )
  return { make, jobs }
}

const returns = (output?: unknown): Outcome => ({ kind: 'returned', ...(output !== undefined && { output }) })

describe('payload modules', () => {
  it('are given the event and nothing else, and what they return is the body', async () => {
    const outputs: unknown[] = ['as it is', { a: [1, null] }, '', null, 0]
    const { make, jobs } = world(async () => returns(outputs[jobs.length - 1]))
    const bodies = []
    for (const _ of outputs) bodies.push(await make('org/a'))
    assert.deepEqual(
      bodies,
      ['as it is', '{"a":[1,null]}', '', 'null', '0'].map((body) => ({ body })),
    )
    const { input, capabilities, secrets, run } = jobs[0] ?? assert.fail()
    assert.deepEqual([input, capabilities, secrets, run], [{ type: 'repo.updated' }, [], {}, {}])
  })

  it('drop the delivery when they give nothing, throw or are late, and it is said why', async () => {
    for (const [outcome, reason] of [
      [returns(), /returned nothing/],
      [{ kind: 'threw', error: 'TypeError: no', stack: 'TypeError: no\n  at webhooks/ci/a.ts:3' }, /a\.ts:3/],
      [{ kind: 'ended', error: 'It took longer than 5 s' }, /longer than 5 s/],
    ] as [Outcome, RegExp][]) {
      const made = await world(async () => outcome).make('org/a')
      assert.match('dropped' in made ? made.dropped : '', reason)
    }
  })

  it('are tried again when none could be run, and end with the server', async () => {
    const unlucky = await world(async () => ({ kind: 'not begun', reason: 'no process' })).make('org/a')
    assert.ok('pauseMs' in unlucky && unlucky.pauseMs > 1_000)
    const stopping = new AbortController()
    const { make } = world(async () => {
      stopping.abort()
      return { kind: 'ended', error: 'It was cancelled' }
    })
    await assert.rejects(make('org/a', stopping.signal))
  })

  it('that are slow are left alone for as long as they took, and others are not', async () => {
    const { make, jobs } = world(async ({ repoId }) => {
      if (repoId === 'org/slow') await new Promise((resolve) => setTimeout(resolve, 1_100))
      return returns('made')
    })
    assert.deepEqual(await make('org/slow'), { body: 'made' })
    const again = await make('org/slow')
    assert.ok('pauseMs' in again && again.pauseMs > 0)
    assert.deepEqual(await make('org/other'), { body: 'made' })
    assert.equal(jobs.length, 2)
  })

  it('of one organization, or of many that nobody has claimed, leave places to others', async () => {
    const held = Promise.withResolvers<void>()
    const { make, jobs } = world(async ({ orgId }) => {
      if (orgId !== 'org') await held.promise
      return returns('made')
    })
    const hung = [
      ...['a', 'b', 'c', 'd'].map((name) => make(`mean/${name}`)),
      ...[1, 2, 3, 4].map((n) => make(`anon${n}/a`)),
    ]
    // Two of an organization run and two wait; of all that nobody has claimed one does, and three wait.
    assert.ok('pauseMs' in (await make('mean/e')))
    assert.ok('pauseMs' in (await make('anon5/a')))
    assert.deepEqual(await make('org/a'), { body: 'made' })
    assert.deepEqual(jobs.map(({ orgId }) => orgId).toSorted(), ['anon1', 'mean', 'mean', 'org'])
    held.resolve()
    await Promise.all(hung)
  })

  it('are not run where nothing runs them', async () => {
    const none = createPayloads({
      extensions: undefined,
      worker: undefined,
      repos: {} as ReposService,
      concurrency: 1,
      log: createLog('error', () => {}),
      onAsked() {},
    })
    const order = {
      deliveryId: '',
      webhook: { id: '', name: '' },
      orgId: '',
      repoId: '',
      moduleHash: '',
      event: {},
    }
    const made = await none(order, AbortSignal.any([]))
    assert.match('dropped' in made ? made.dropped : '', /runs no payload modules/)
  })
})
