import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { onEachDatabase, useApp } from '../testing/index.ts'

onEachDatabase('the size of forks', (create) => {
  const app = useApp(create, { TRELLIS_ORG_MAX_BYTES: '5000' })
  let token: string

  before(async () => {
    token = app.ownerKey ?? ''
  })

  it('counts against the organization, although a fork shares its objects', async () => {
    const trellis = app.client(token)
    await trellis.repos.create({ name: 'parent' })
    const content = Array.from({ length: 1500 }, () => Math.random().toString(36)[3]).join('')
    const changes = [{ op: 'put' as const, path: 'a', content }]
    await trellis.git.commits.create({ name: 'parent', branch: 'main', message: 'one', changes })
    const { sizeBytes } = await trellis.repos.get({ name: 'parent' })
    assert.ok(sizeBytes > 1667 && sizeBytes <= 2500, `two fit into the limit and three do not: ${sizeBytes}`)

    assert.equal((await trellis.repos.fork({ name: 'parent', newName: 'first' })).sizeBytes, sizeBytes)
    const refused = await app.call('repos/fork', { name: 'parent', newName: 'second' }, { token })
    assert.equal(refused.body.code, 'QUOTA_EXCEEDED')
    assert.deepEqual(refused.body.data, {
      scope: 'size',
      limit: 5000,
      observed: 2 * sizeBytes,
      projected: 3 * sizeBytes,
    })
    assert.equal((await app.call('repos/get', { name: 'second' }, { token })).status, 404)
  })
})
