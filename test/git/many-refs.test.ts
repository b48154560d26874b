// Very many refs. In a file of its own: a process that has become this large starts every other more slowly.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createSqlite, onEachDatabase } from '@trellis/server/testing'
import { listed, pushRaw, useHost } from './harness.ts'

onEachDatabase('refs', (create) => {
  const host = useHost(create)
  /** Forty statements of them; on the other database ten. */
  const MANY = create === createSqlite ? 20_000 : 5_000

  it(`takes ${MANY} refs in one push, lists them, and takes one more`, async () => {
    const { client, url } = await host.filled('many')
    const oid = await client.rev('main')
    // Stock git compares each ref with every other and would need minutes to send this.
    const names = Array.from({ length: MANY - 3 }, (_, i) => `refs/heads/b/${String(i).padStart(5, '0')}`)
    const report = await pushRaw(
      host,
      'many',
      names.map((ref) => ({ ref, after: oid })),
    )
    assert.match(report, /^000eunpack ok\n/)
    assert.equal(report.match(/ok refs\/heads\/b\/\d{5}\n/g)?.length, names.length)

    const seen = await listed(client, url)
    assert.equal(Object.keys(seen).length, MANY + 2)
    assert.equal(seen[names.at(-1) ?? ''], oid)
    assert.equal(await client.run('ls-remote', url, 'refs/heads/b/00042'), `${oid}\trefs/heads/b/00042`)

    await client.run('push', '-q', url, 'main:refs/heads/one-more')
    assert.equal((await host.refs('many'))['refs/heads/one-more'], oid)
    await client.run('push', '-q', url, ':refs/heads/b/00042', ':refs/heads/one-more')
    assert.equal(Object.keys(await host.refs('many')).length, MANY - 1)

    const page = await host.ok('git/branches/list', { name: 'many', limit: 100 })
    assert.equal(page.items.length, 100)
    assert.equal(page.items[42].name, 'b/00043')
    const last = await host.ok('events/list', { name: 'many', order: 'newest', limit: 1 })
    // Of three, of five of the many, of one more and of two that went each its own push and branch event, after the
    // repository's own; of the other thousands eight of each.
    assert.equal(last.items[0].seq, 1 + 2 * (3 + 5 + 8 + 1 + 2))
    const fork = await host.ok('repos/fork', { name: 'many', newName: 'many-too' })
    assert.equal(fork.name, 'many-too')
    assert.deepEqual(await host.refs('many-too'), await host.refs('many'))
    const clone = host.client()
    await clone.run('clone', '-q', '--mirror', url, '.')
    assert.equal((await clone.run('for-each-ref')).split('\n').length, MANY - 1)
  })
})
