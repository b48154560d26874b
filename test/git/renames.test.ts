// Stock git at the names that repositories and organizations had before, and the first push to an empty one.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { createSqlite, onEachDatabase } from '@trellis/server/testing'
import { createClient, useHost } from './harness.ts'

describe('git at an old name', () => {
  const host = useHost(createSqlite)
  const at = (org: string, name: string) => `${host.app.url}/git/${org}/${name}.git`
  /** The address with a credential in it, as people paste it. */
  const withSecret = (url: string, secret: string) => url.replace('//', `//git:${secret}@`)
  let oldName: string
  let oldOrg: string

  before(async () => {
    await host.filled('named')
    await host.ok('repos/update', { name: 'named', newName: 'renamed' })
    await host.app.client(host.owner.token).orgs.update({ orgSlug: host.owner.slug, slug: 'ann-renamed' })
    oldName = at('ann-renamed', 'named')
    oldOrg = at(host.owner.slug, 'named')
  })

  it('clones, fetches and pushes, whatever the credential and however it is sent', async () => {
    const api = host.app.client(host.owner.token)
    const { secret: key } = await api.keys.create({ name: 'git' })
    const { secret: token } = await api.tokens.create({ name: 'renamed', scope: 'write' })
    const helper = (secret: string) => `!f() { echo username=git; echo password=${secret}; }; f`
    const ways = (url: string, secret: string) => ({
      header: [url, { token: secret }] as const,
      address: [withSecret(url, secret), {}] as const,
      helper: [url, { config: { 'credential.helper': helper(secret) } }] as const,
    })
    const tried = {
      'key in a header, old slug': ways(oldOrg, key).header,
      'key in the address, old slug': ways(oldOrg, key).address,
      'key of a helper, old slug': ways(oldOrg, key).helper,
      'session in the address, old name': ways(oldName, host.owner.token).address,
      'token of a helper, old name': ways(oldName, token).helper,
    }
    for (const [what, [remote, options]] of Object.entries(tried)) {
      const client = createClient(host.sandbox.path('old'), options)
      const branch = what.replaceAll(/\W+/g, '-')
      const { code, stderr } = await client.attempt('clone', '-q', remote, '.')
      assert.equal(code, 0, `${what}: ${stderr}`)
      const oid = await client.commit({ 'late.txt': `${what}\n` })
      await client.run('push', '-q', 'origin', `HEAD:refs/heads/${branch}`)
      await client.run('fetch', '-q', 'origin')
      assert.equal(await client.rev(`origin/${branch}`), oid)
    }
  })

  it('is sent to the new one, and served where it does not follow', async () => {
    const ask = (url: string, init: RequestInit = {}) =>
      fetch(url, {
        redirect: 'manual',
        ...init,
        headers: { authorization: `Bearer ${host.owner.token}`, ...(init.headers as Record<string, string>) },
      })
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const response = await ask(`${oldOrg}/info/refs?service=${service}&x=%0d%0ay:z`)
      assert.equal(response.status, 302)
      assert.equal(
        response.headers.get('location'),
        `/git/ann-renamed/renamed.git/info/refs?service=${service}`,
      )
      assert.equal(response.headers.get('cache-control'), 'no-store')
    }
    const posted = await ask(`${oldOrg}/git-upload-pack`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
      body: '0014command=ls-refs\n0000',
    })
    assert.equal(posted.status, 200)
    assert.match(await posted.text(), /refs\/heads\/main/)
    assert.equal((await ask(`${at('ann-renamed', 'renamed')}/info/refs?service=git-upload-pack`)).status, 200)
  })

  it('tells strangers and outsiders what it tells them of any other name', async () => {
    const outsider = await host.app.signUp('outsider')
    const outcome = async (url: string, secret?: string) => {
      const response = await fetch(`${url}/info/refs?service=git-upload-pack`, {
        redirect: 'manual',
        ...(secret && { headers: { authorization: `Bearer ${secret}` } }),
      })
      return [response.status, await response.text(), response.headers.get('location')]
    }
    for (const secret of [undefined, outsider.token])
      for (const url of [oldName, oldOrg])
        assert.deepEqual(await outcome(url, secret), await outcome(at('no-such', 'thing'), secret))
  })

  it('reaches what has the name now, once somebody has taken it', async () => {
    await host.app.client(host.owner.token).repos.create({ name: 'named' })
    const client = host.client()
    await client.run('clone', '-q', oldName, '.')
    assert.equal((await client.attempt('rev-parse', '-q', '--verify', 'HEAD')).code, 1)
  })
})

onEachDatabase('the first push to an empty repository', (create) => {
  const host = useHost(create)

  /** Pushes branches of one commit to a new repository, and gives what its default is then. */
  async function firstPush(name: string, ...refs: string[]) {
    const url = await host.repo(name)
    const client = host.client()
    await client.run('init', '-q')
    await client.commit({ 'a.txt': 'a\n' })
    await client.run('push', '-q', url, ...refs.map((ref) => `HEAD:${ref}`))
    return { url, client, defaultBranch: (await host.ok('repos/get', { name })).defaultBranch }
  }

  it('makes the branch the default one, and a clone checks it out', async () => {
    const { url, client, defaultBranch } = await firstPush('old-habit', 'refs/heads/master')
    assert.equal(defaultBranch, 'master')
    const clone = await host.clone('old-habit')
    assert.equal(await clone.run('symbolic-ref', 'HEAD'), 'refs/heads/master')
    assert.equal(await clone.rev('HEAD'), await client.rev('HEAD'))
    const events = await host.events('old-habit')
    const updated = events.find(({ type }) => type === 'repo.updated')
    assert.equal(updated?.payload.defaultBranch, 'master')
    // And no later one does.
    await client.run('push', '-q', url, 'HEAD:refs/heads/main', 'HEAD:refs/heads/topic')
    assert.equal((await host.ok('repos/get', { name: 'old-habit' })).defaultBranch, 'master')
    assert.equal((await host.events('old-habit')).filter(({ type }) => type === 'repo.updated').length, 1)
  })

  it('chooses among several: the default itself, main, master, the first', async () => {
    const cases: [string, string[]][] = [
      ['main', ['refs/heads/zeta', 'refs/heads/main', 'refs/heads/master']],
      ['master', ['refs/heads/a', 'refs/heads/master', 'refs/tags/v1']],
      ['b', ['refs/heads/b', 'refs/heads/c']],
      ['main', ['refs/tags/v1', 'refs/notes/x']],
    ]
    for (const [i, [expected, refs]] of cases.entries())
      assert.equal((await firstPush(`several-${i}`, ...refs)).defaultBranch, expected)
    await host.ok('repos/create', { name: 'other', defaultBranch: 'trunk' })
    const client = host.client()
    await client.run('init', '-q')
    await client.commit({ 'a.txt': 'a\n' })
    await client.run('push', '-q', host.remote('other'), 'HEAD:refs/heads/master', 'HEAD:refs/heads/trunk')
    assert.equal((await host.ok('repos/get', { name: 'other' })).defaultBranch, 'trunk')
  })
})
