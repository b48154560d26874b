// Clients that ask for refs in the same words again are told what was said before, as long as it is true.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase } from '@trellis/server/testing'
import { useHost } from './harness.ts'

const packet = (line: string) => (line.length + 4).toString(16).padStart(4, '0') + line

onEachDatabase('clients that poll', (create) => {
  const host = useHost(create)
  let agents = 0

  async function ask(name: string, agent: string, ...prefixes: string[]): Promise<string> {
    const words = ['peel', 'symrefs', 'unborn', ...prefixes.map((prefix) => `ref-prefix ${prefix}`)]
    const response = await fetch(`${host.remote(name)}/git-upload-pack`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${host.owner.token}`,
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
      },
      body: `${packet('command=ls-refs\n')}${packet(`agent=${agent}`)}0001${words.map(packet).join('')}0000`,
    })
    assert.equal(response.status, 200)
    return response.text()
  }

  it('are told of everything that moves', async () => {
    const name = 'garden'
    await host.repo(name)
    const change = (content: string) => ({ op: 'put', path: 'a', content })
    const commit = (branch: string, content: string) =>
      host.ok('git/commits/create', { name, branch, message: 'Change', changes: [change(content)] })
    const client = host.client()
    await client.run('init', '-q')
    const steps: Record<string, () => Promise<unknown>> = {
      'a first commit': () => commit('main', '1'),
      another: () => commit('main', '2'),
      'a branch': () => host.ok('git/branches/create', { name, branch: 'next', from: 'main' }),
      'a commit to it': () => commit('next', '3'),
      'another default branch': () => host.ok('repos/update', { name, defaultBranch: 'next' }),
      'a tag with a message': async () => {
        await client.run('fetch', '-q', host.remote(name), 'main')
        await client.run('tag', '-a', '-m', 'One', 'v1', 'FETCH_HEAD')
        await client.run('push', '-q', host.remote(name), 'v1')
      },
      'the same tag elsewhere': async () => {
        await client.run('tag', '-f', '-a', '-m', 'Two', 'v1', 'FETCH_HEAD')
        await client.run('push', '-q', '-f', host.remote(name), 'v1')
      },
      'a branch that goes': () => host.ok('git/branches/delete', { name, branch: 'main' }),
    }
    const questions = [[], ['HEAD'], ['refs/heads/', 'refs/tags/']]
    const askAll = (agent: string) => Promise.all(questions.map((prefixes) => ask(name, agent, ...prefixes)))
    let before = await askAll('poller')
    for (const [what, step] of Object.entries(steps)) {
      await step()
      const now = await askAll('poller')
      // Nobody has asked like this before.
      assert.deepEqual(now, await askAll(`newcomer-${agents++}`), what)
      assert.notDeepEqual(now, before, what)
      assert.deepEqual(await askAll('poller'), now, what)
      before = now
    }
  })

  it('of two repositories are told of their own', async () => {
    const tips = []
    for (const name of ['one', 'two']) {
      await host.repo(name)
      const changes = [{ op: 'put', path: 'a', content: name }]
      tips.push((await host.ok('git/commits/create', { name, branch: 'main', message: name, changes })).oid)
    }
    for (let round = 0; round < 2; round++)
      for (const [i, name] of ['one', 'two'].entries())
        assert.match(await ask(name, 'poller'), new RegExp(`^....${tips[i]} HEAD symref`))
  })
})
