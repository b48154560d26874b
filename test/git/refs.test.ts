// Refs: oddly named, in each other's way, and contended.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase } from '@trellis/server/testing'
import { type Client, listed, useHost } from './harness.ts'

onEachDatabase('refs', (create) => {
  const host = useHost(create)

  it('takes names in any script and with odd characters', async () => {
    const { client, url } = await host.filled('names')
    const names = [
      'größe',
      '日本語/枝',
      '🌳',
      "it's-'quoted'",
      'with"double',
      '$(id)',
      '`id`',
      ';rm -rf'.replaceAll(' ', '-'),
      '%2e%2e',
      '--looks-like-an-option',
      'a@b',
      'ünïcode/ñ',
      'e\u0301',
      'é',
      'trailing-',
      '{braces}',
      'a#b&c=d!',
      'x'.repeat(200),
    ]
    const oid = await client.rev('main')
    await client.run('push', '-q', url, ...names.map((name) => `${oid}:refs/heads/${name}`))
    const refs = await host.refs('names')
    for (const name of names) assert.equal(refs[`refs/heads/${name}`], oid, name)
    // In the order of their bytes, so that both databases and git agree.
    const seen = Object.keys(await listed(client, url, '--heads'))
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
    assert.deepEqual(new Set(seen), new Set(['main', 'side', ...names].map((name) => `refs/heads/${name}`)))
    // And pages give each exactly once.
    const paged: string[] = []
    let cursor: string | null = null
    do {
      const page = await host.ok('git/branches/list', { name: 'names', limit: 3, ...(cursor && { cursor }) })
      paged.push(...page.items.map((item: { name: string }) => `refs/heads/${item.name}`))
      cursor = page.nextCursor
    } while (cursor)
    assert.deepEqual(paged, seen)
    const clone = await host.clone('names')
    assert.equal(await clone.rev('origin/日本語/枝'), oid)
    await client.run('push', '-q', url, ...names.map((name) => `:refs/heads/${name}`))
    assert.deepEqual(Object.keys(await host.refs('names')), [
      'refs/heads/main',
      'refs/heads/side',
      'refs/tags/v1',
    ])
  })

  it('refuses a ref in the folder of another and a folder over another', async () => {
    const { client, url } = await host.filled('folders')
    await client.run('push', '-q', url, 'main:refs/heads/a/b')
    const told = /inside, or contains, the name of another ref/
    assert.match(await client.fails('push', url, 'main:refs/heads/a/b/c'), told)
    assert.match(await client.fails('push', url, 'main:refs/heads/a'), told)
    assert.match(await client.fails('push', url, 'main:refs/heads/a/b/c/d/e'), told)
    // Both at once: the shorter wins or none, never both.
    await client.fails('push', url, 'main:refs/heads/p', 'main:refs/heads/p/q')
    const refs = await host.refs('folders')
    assert.deepEqual(
      Object.keys(refs).filter((name) => /\/(a|p)(\/|$)/.test(name)),
      ['refs/heads/a/b', 'refs/heads/p'],
    )
    // One that is not made is in nobody's way.
    await client.fails('push', url, 'main:refs/heads/a', 'main:refs/heads/a/c')
    assert.deepEqual(
      Object.keys(await host.refs('folders')).filter((name) => /\/a(\/|$)/.test(name)),
      ['refs/heads/a/b', 'refs/heads/a/c'],
    )
    await client.run('push', '-q', url, ':refs/heads/a/c')
    // What only looks like a folder is none.
    await client.run('push', '-q', url, 'main:refs/heads/a-b', 'main:refs/heads/a.b', 'main:refs/tags/a')
    // One goes, the other comes, in the same push.
    await client.run('push', '-q', '--atomic', url, ':refs/heads/a/b', 'main:refs/heads/a')
    assert.equal((await host.refs('folders'))['refs/heads/a'], await client.rev('main'))
    const clone = await host.clone('folders')
    assert.equal(await clone.rev('origin/a'), await client.rev('main'))
  })

  it('keeps the refs of the server, and branches that are commits', async () => {
    const { client, url } = await host.filled('kept')
    const before = await host.refs('kept')
    assert.match(
      await client.fails('push', url, 'main:refs/trellis/canonical'),
      /refs\/trellis\/.*moved by the server alone/,
    )
    const tree = await client.rev('main^{tree}')
    await client.run('update-ref', 'refs/odd/tree', tree)
    assert.match(
      await client.fails('push', url, 'refs/odd/tree:refs/heads/tree'),
      /a branch must be a commit/,
    )
    assert.match(await client.fails('push', url, 'v1:refs/heads/tag'), /a branch must be a commit|rejected/)
    assert.deepEqual(await host.refs('kept'), before)
    // Elsewhere a tree may be.
    await client.run('push', '-q', url, 'refs/odd/tree:refs/odd/tree')
  })

  it('lets exactly one of two clients win a race for a ref, and tells the other', async () => {
    const { url } = await host.filled('race')
    const racers = await Promise.all([0, 1, 2].map(() => host.clone('race')))
    const ROUNDS = 4
    for (let round = 0; round < ROUNDS; round++) {
      const heads = await Promise.all(
        racers.map(async (racer, i) => {
          await racer.run('fetch', '-q')
          await racer.run('reset', '-q', '--hard', 'origin/main')
          return racer.commit({ [`race-${round}`]: `${i}\n` }, `${round} ${i}`)
        }),
      )
      const results = await Promise.all(racers.map((racer) => racer.attempt('push', url, 'main')))
      const winners = results.flatMap(({ code }, i) => (code === 0 ? [i] : []))
      assert.equal(winners.length, 1, results.map(({ stderr }) => stderr).join('\n'))
      assert.equal((await host.refs('race'))['refs/heads/main'], heads[winners[0] ?? -1])
      for (const { code, stderr } of results)
        if (code !== 0) assert.match(stderr, /rejected.*(fetch first|stale info|non-fast-forward)/)
    }
    const pushes = (await host.events('race')).filter(
      ({ type, subject }) => type === 'git.push' && subject === 'refs/heads/main',
    )
    assert.equal(pushes.length, 1 + ROUNDS)
    pushes.reduce((before, { payload }) => {
      assert.equal(payload.before, before)
      return payload.after
    }, null)
  })

  it('lets exactly one of many create the same new branch', async () => {
    const { url } = await host.filled('first')
    const racers = await Promise.all([0, 1, 2, 3].map(() => host.clone('first')))
    const heads = await Promise.all(racers.map((racer, i) => racer.commit({ mine: `${i}\n` }, `mine ${i}`)))
    const results = await Promise.all(
      racers.map((racer) => racer.attempt('push', url, 'main:refs/heads/fresh')),
    )
    const winners = results.flatMap(({ code }, i) => (code === 0 ? [i] : []))
    assert.equal(winners.length, 1)
    assert.equal((await host.refs('first'))['refs/heads/fresh'], heads[winners[0] ?? -1])
  })

  it('takes all parallel pushes to different refs', async () => {
    const { url } = await host.filled('parallel')
    const pushers = await Promise.all(Array.from({ length: 8 }, () => host.clone('parallel')))
    const push = async (client: Client, i: number) => {
      const head = await client.commit({ [`own-${i}`]: `${i}\n` }, `own ${i}`)
      await client.run('push', '-q', url, `main:refs/heads/own-${i}`)
      return head
    }
    const heads = await Promise.all(pushers.map(push))
    const refs = await host.refs('parallel')
    for (const [i, head] of heads.entries()) assert.equal(refs[`refs/heads/own-${i}`], head)
    const seqs = (await host.events('parallel')).map(({ seq }) => seq)
    assert.deepEqual(
      seqs,
      Array.from({ length: seqs.length }, (_, i) => i + 1),
    )
    const mirror = host.client()
    await mirror.run('clone', '-q', '--mirror', url, '.')
    await mirror.run('fsck', '--full')
  })
})
