// Many who commit to one branch at once, and merge into it.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase } from '@trellis/server/testing'
import { useHost } from './harness.ts'

const MANY = 16

onEachDatabase('many at one branch', (create) => {
  const host = useHost(create)
  const filesOf = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`)
  const commit = (name: string, file: string, more: object = {}) =>
    host.call('git/commits/create', {
      name,
      branch: 'main',
      message: file,
      changes: [{ op: 'put', path: file, content: `${file}\n` }],
      ...more,
    })
  const head = async (name: string): Promise<string> =>
    (await host.ok('git/commits/get', { name, ref: 'main' })).oid

  it('who do not say where it must be follow each other, from the first commit on', async () => {
    const name = 'follow'
    await host.ok('repos/create', { name })
    const files = filesOf(MANY, 'file')
    const answers = await Promise.all(files.map((file) => commit(name, file)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    // Each stands on another, and the first on none.
    const oids = answers.map(({ body }) => body.oid)
    const befores = answers.map(({ body }) => body.before)
    assert.deepEqual(new Set(befores), new Set([null, ...oids.filter((oid) => befores.includes(oid))]))
    assert.equal(new Set(befores).size, MANY)
    const client = host.client()
    await client.run('clone', '-q', host.remote(name), '.')
    assert.equal(await client.run('rev-list', '--count', '--first-parent', 'HEAD'), String(MANY))
    assert.deepEqual((await client.run('ls-files')).split('\n'), files.toSorted())
  })

  it('are not held up by those who say where, and win in spite of them', async () => {
    const name = 'overtaken'
    await host.ok('repos/create', { name })
    await commit(name, 'begin')
    let isOver = false
    const rival = async () => {
      const statuses: number[] = []
      for (let i = 0; !isOver; i++)
        statuses.push((await commit(name, `rival-${i}`, { expectedHead: await head(name) })).status)
      return statuses
    }
    const rivals = rival()
    const answers = await Promise.all(filesOf(MANY, 'file').map((file) => commit(name, file)))
    isOver = true
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    for (const status of await rivals) assert.ok(status === 200 || status === 409, String(status))
  })

  it('merge into it all the same', async () => {
    const name = 'merged'
    await host.ok('repos/create', { name })
    await commit(name, 'begin')
    const topics = filesOf(4, 'topic')
    for (const branch of topics) await commit(name, branch, { branch })
    const [merges, commits] = await Promise.all([
      Promise.all(
        topics.map((from) => host.call('git/merge', { name, branch: 'main', from, strategy: 'merge' })),
      ),
      Promise.all(filesOf(4, 'file').map((file) => commit(name, file))),
    ])
    assert.deepEqual(new Set([...merges, ...commits].map(({ status }) => status)), new Set([200]))
    for (const { body } of merges) assert.equal(body.outcome, 'merged')
    const { items } = await host.ok('git/trees/get', { name, ref: 'main' })
    const found = items.map(({ name }: { name: string }) => name)
    assert.deepEqual(found, ['begin', ...filesOf(4, 'file'), ...topics])
  })

  it('delete it wherever it is, one of them what is there', async () => {
    const name = 'deleted'
    await host.ok('repos/create', { name })
    await commit(name, 'begin')
    for (const branch of filesOf(4, 'topic')) {
      await host.ok('git/branches/create', { name, branch })
      const answers = await Promise.all(
        filesOf(MANY, '').map(() => host.call('git/branches/delete', { name, branch })),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.equal(answers.filter(({ body }) => body.deleted).length, 1)
    }
  })

  it('of whom one has left without waiting do not wait for that one', async () => {
    const name = 'left'
    await host.ok('repos/create', { name })
    const leave = new AbortController()
    const left = fetch(`${host.app.url}/api/v1/git/commits/create`, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name,
        branch: 'main',
        message: 'left',
        changes: [{ op: 'put', path: 'left', content: 'x'.repeat(900_000) }],
      }),
      signal: leave.signal,
    }).catch(() => undefined)
    const others = Promise.all(filesOf(MANY, 'file').map((file) => commit(name, file)))
    leave.abort()
    await left
    assert.deepEqual(new Set((await others).map(({ status }) => status)), new Set([200]))
  })
})
