import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertInvalid, createSqlite, type Person, useApp } from '../../testing/index.ts'

describe('null in a field', () => {
  const app = useApp(createSqlite)
  let ada: Person

  before(async () => {
    ada = await app.signUp('ada')
  })
  const call = (path: string, input: object) => app.call(path, input, { token: ada.token })

  it('says the same as leaving it out, where it may be left out', async () => {
    assert.equal((await call('repos/create', { name: 'a', defaultBranch: null })).body.defaultBranch, 'main')
    assert.equal((await call('repos/list', { cursor: null, limit: null })).body.items.length, 1)
    const author = { name: 'Ada', email: 'ada@example.com', timestamp: null }
    const changes = [{ op: 'put', path: 'a', content: 'a', mode: null }]
    const made = await call('git/commits/create', {
      name: 'a',
      branch: 'main',
      message: 'm',
      changes,
      author,
      parent: null,
    })
    assert.equal(made.status, 200, JSON.stringify(made.body))
  })

  it('keeps its meaning where it has one', async () => {
    const deleted = await call('git/refs/update', { name: 'a', ref: 'refs/heads/none', oid: null })
    assert.equal(deleted.body.oid, null)
  })

  it('is refused where something is needed, and in a list', async () => {
    assertInvalid(await call('repos/create', { name: null }), ['name'])
    assertInvalid(await call('events/list', { name: 'a', types: [null] }), ['types', 0])
  })
})
