// How many refs there may be.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { assertFault, onEachDatabase } from '@trellis/server/testing'
import { pushRaw, useHost } from './harness.ts'

onEachDatabase('how many refs', (create) => {
  const host = useHost(create, { TRELLIS_PUSH_MAX_REFS: '10', TRELLIS_REPO_MAX_REFS: '15' })
  const commands = (from: number, count: number, after: string) =>
    Array.from({ length: count }, (_, i) => ({ ref: `refs/heads/b${from + i}`, after }))

  it('one push may move is bounded, and said', async () => {
    const { client } = await host.filled('pushed')
    const main = await client.rev('main')
    const before = await host.events('pushed')
    const report = await pushRaw(host, 'pushed', commands(0, 11, main))
    assert.match(report, /unpack a push may move up to 10 refs: push them in parts/)
    assert.match(report, /ng refs\/heads\/b0 /)
    assert.equal(Object.keys(await host.refs('pushed')).length, 3)
    assert.deepEqual(await host.events('pushed'), before)
    assert.match(await pushRaw(host, 'pushed', commands(0, 10, main)), /ok refs\/heads\/b9\n/)
    const limits = await (await fetch(`${host.app.url}/limits`)).text()
    assert.match(limits, /"push":\{"refs":10\}/)
    assert.match(limits, /"refs":15/)
  })

  it('a repository may have is bounded, for pushes and for operations, and deleting makes room', async () => {
    const name = 'held'
    const { client, url } = await host.filled(name)
    const main = await client.rev('main')
    await pushRaw(host, name, commands(0, 10, main))
    const report = await pushRaw(host, name, commands(10, 4, main))
    assert.match(report, /ok refs\/heads\/b11\n/)
    assert.match(report, /ng refs\/heads\/b12 a repository may have up to 15 refs/)
    assert.equal(Object.keys(await host.refs(name)).length, 15)
    for (const [operation, input] of Object.entries({
      'git/branches/create': { branch: 'one-more' },
      'git/tags/create': { tag: 'one-more', oid: main },
      'git/refs/update': { ref: 'refs/notes/one-more', oid: main },
    }))
      assertFault(
        await host.call(operation, { name, ...input }),
        'QUOTA_EXCEEDED',
        { scope: 'org', limit: 15, observed: 15, projected: 16 },
        'A repository may have up to 15 refs',
      )
    // Moving needs no room, and what goes with the same push makes some.
    await client.run('push', '-q', '-f', url, 'main~1:refs/heads/b0')
    await client.run('push', '-q', url, ':b1', 'main:refs/heads/instead')
    assert.equal((await host.refs(name))['refs/heads/instead'], main)
    assert.equal(await host.failures(), 0)
  })
})
