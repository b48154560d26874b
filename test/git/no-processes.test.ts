import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSqlite } from '@trellis/server/testing'
import { useHost } from './host.ts'

describe('what an agent does all day', () => {
  const host = useHost(createSqlite)
  const name = 'busy'

  /** What git processes have been started for, but for those that nobody waits for. */
  async function started(): Promise<string[]> {
    const text = await (await fetch(`${host.app.url}/metrics`)).text()
    const lines = text.split('\n').filter((line) => line.startsWith('trellis_git_processes_started_total{'))
    return lines.filter((line) => !line.includes('"upkeep"'))
  }

  async function assertStartsNone(what: string, work: () => Promise<unknown>): Promise<void> {
    const before = await started()
    await work()
    assert.deepEqual(await started(), before, what)
  }

  it('starts no process of git', async () => {
    const url = await host.repo(name)
    const client = host.client()
    await client.run('init', '-q', '-b', 'main')
    await client.commit({ README: 'one\n', 'src/a.ts': 'a\n', 'src/deep/b.ts': 'b\n' })
    await assertStartsNone('the first push', () => client.run('push', '-q', url, 'main'))
    await client.commit({ 'src/a.ts': 'a\nmore\n' })
    await assertStartsNone('a push', () => client.run('push', '-q', url, 'main'))
    await client.run('checkout', '-q', '-b', 'topic')
    const topic = await client.commit({ 'src/deep/b.ts': 'b\nmore\n' })
    await assertStartsNone('the push of a branch', () => client.run('push', '-q', url, 'topic'))

    const put = (branch: string, content: string) => ({
      branch,
      message: 'Change',
      changes: [{ op: 'put', path: 'src/c.ts', content }],
    })
    const main = await client.rev('main')
    const calls: [operation: string, input: object][] = [
      ['git/refs/list', {}],
      ['git/refs/search', { query: 'top' }],
      ['git/branches/list', {}],
      ['git/branches/compare', { branches: ['main', 'topic'] }],
      ['git/tags/list', {}],
      ['git/trees/get', {}],
      ['git/trees/get', { ref: 'topic', path: 'src/deep' }],
      ['git/blobs/get', { path: 'src/deep/b.ts' }],
      ['git/locate', { address: 'topic/src/deep/b.ts' }],
      ['git/files', {}],
      ['git/files', { query: 'deep' }],
      ['git/commits/get', { ref: 'topic' }],
      ['git/commits/list', {}],
      ['git/commits/list', { ref: 'topic', path: 'src/a.ts' }],
      ['git/compare', { base: 'main', head: 'topic', patches: false }],
      ['git/mergePreview', { branch: 'main', from: 'topic' }],
      ['git/commits/create', put('main', 'c\n')],
      ['git/commits/create', put('main', 'c\nmore\n')],
      ['git/commits/create', { ...put('new', 'd\n'), parent: 'main' }],
      ['git/branches/create', { branch: 'from-topic', from: 'topic' }],
      ['git/merge', { branch: 'main', from: 'new' }],
      ['git/tags/create', { tag: 'v1', oid: main }],
      ['git/tags/create', { tag: 'v2', oid: topic, message: 'Two' }],
      ['git/refs/update', { ref: 'refs/heads/other', oid: main }],
      ['git/refs/update', { ref: 'refs/heads/other', oid: topic }],
      ['git/refs/update', { ref: 'refs/heads/other', oid: main, force: true }],
      ['git/branches/delete', { branch: 'other' }],
      ['git/tags/delete', { tag: 'v1' }],
    ]
    for (const [operation, input] of calls)
      await assertStartsNone(`${operation} ${JSON.stringify(input)}`, () =>
        host.ok(operation, { name, ...input }),
      )
    await client.commit({ 'src/deep/b.ts': 'b\nbetter\n' })
    await client.run('reset', '-q', '--soft', 'topic~2')
    await client.run('commit', '-q', '-m', 'Both at once')
    await assertStartsNone('a forced push', () => client.run('push', '-q', '--force', url, 'topic'))
    await client.run('commit', '-q', '--amend', '-m', 'In other words')
    await assertStartsNone('a commit in other words', () => client.run('push', '-q', '--force', url, 'topic'))
    await assertStartsNone('a branch where another is', () => client.run('push', '-q', url, 'main:beside'))
    await assertStartsNone('one that catches up', () => client.run('push', '-q', url, '+topic:beside'))
    await assertStartsNone('one that goes back', () => client.run('push', '-q', url, '+topic~1:beside'))
    await assertStartsNone('one that is deleted', () => client.run('push', '-q', url, ':beside'))
    await assertStartsNone('ls-remote', () => client.run('ls-remote', url))
    // So that nothing above is to be seen for want of looking.
    const before = await started()
    await client.run('fetch', '-q', url, 'main')
    assert.notDeepEqual(await started(), before)
  })
})
