import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachDatabase, startTestApp, type TestApp, type TestDatabase } from '../testing/index.ts'

onEachDatabase('repositories', (create) => {
  let database: TestDatabase
  let app: TestApp
  let token: string

  before(async () => {
    database = await create()
    app = await startTestApp(database)
    token = app.ownerKey ?? ''
  })
  after(async () => {
    await app.stop()
    await database.drop()
  })

  it('creates a repository and lists it', async () => {
    const made = await app.client(token).repos.create({ name: 'hello' })
    assert.equal(made.defaultBranch, 'main')
    assert.equal(made.remote, `${app.url}/git/owner/hello.git`)
    assert.deepEqual([made.canWrite, made.canAdmin, made.readOnly], [true, true, false])
    assert.deepEqual((await app.client(token).repos.list({})).items, [made])
  })
})
