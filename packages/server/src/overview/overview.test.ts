import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { RepoOverview } from '@trellis/contract'
import { onEachDatabase, useRuns } from '../testing/index.ts'

onEachDatabase('repos/overview', (create) => {
  const world = useRuns(create)
  const read = (name: string): Promise<RepoOverview> => world.ok('repos/overview', { name })

  it('has nothing to show of a new repository', async () => {
    await world.ok('repos/create', { name: 'new' })
    const { repo, ...rest } = await read('new')
    assert.deepEqual(repo, await world.ok('repos/get', { name: 'new' }))
    assert.deepEqual(rest, {
      head: null,
      branches: 0,
      tags: 0,
      canonical: null,
      extensions: 0,
      records: 0,
      daemons: { total: 0, quarantined: 0 },
      lastRuns: [],
    })
  })

  it('counts what there is and what is in force, and shows the last runs', async () => {
    const record = { name: 'task', fields: { title: { type: 'string' } } }
    await world.repo('full', {
      greet: { does: 'return 1' },
      fail: { does: 'throw new Error("no")' },
      keeper: { does: '', declares: { record } },
      nightly: { does: '', declares: { daemon: { scheduleIntervalMinutes: 60 } } },
    })
    const promoted = (await world.ok('git/commits/get', { name: 'full', ref: 'main' })).oid
    for (let i = 0; i < 5; i++) await world.run('full', 'greet')
    const failed = await world.run('full', 'fail')
    await world.commit('full', { note: '1' })
    const head = await world.commit('full', { note: '2' })
    await world.ok('git/branches/create', { name: 'full', branch: 'topic' })
    await world.ok('git/tags/create', { name: 'full', tag: 'v1', oid: head })

    const overview = await read('full')
    assert.deepEqual([overview.head?.oid, overview.head?.summary], [head, 'Change'])
    assert.deepEqual([overview.branches, overview.tags], [2, 1])
    assert.deepEqual(overview.canonical, { oid: promoted, ahead: 0, behind: 2 })
    assert.deepEqual([overview.extensions, overview.records], [4, 1])
    assert.deepEqual(overview.daemons, { total: 1, quarantined: 0 })
    assert.deepEqual(
      overview.lastRuns.map(({ extension, status }) => `${extension} ${status}`),
      ['fail failed', ...Array.from({ length: 4 }, () => 'greet succeeded')],
    )
    const { id, createdAt, endedAt } = failed
    assert.deepEqual(overview.lastRuns[0], {
      id,
      extension: 'fail',
      trigger: 'dispatch',
      status: 'failed',
      createdAt,
      endedAt,
    })
    assert.deepEqual(await read('full'), overview)
  })
})
