import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { RecordRow } from '@trellis/contract'
import {
  assertFault,
  assertForbidden,
  assertInvalid,
  expectEvents,
  onEachDatabase,
  promoteRecords,
  repoNamed,
  taskRecord,
  useRecords,
} from '../testing/index.ts'

const task = {
  ...taskRecord,
  fields: {
    ...taskRecord.fields,
    slug: { type: 'string', unique: true },
    parent: { type: 'ref', record: 'task' },
    meta: { type: 'json' },
  },
}

onEachDatabase('records', (create) => {
  const {
    app,
    client,
    owner,
    promoted,
    addTask: add,
  } = useRecords(create, {
    TRELLIS_RECORD_MAX_ROWS: '20',
    TRELLIS_ORG_MAX_BYTES: String(64 * 1024 * 1024),
  })
  const call = (operation: string, input: object) =>
    app.call(`records/${operation}`, input, { token: owner().token })
  const record = 'task'

  const entryCount = async () =>
    (await app.database.db.selectFrom('record_entries').select('key').execute()).length

  it('are made with their defaults, read, changed and removed, each with its event', async () => {
    const name = await promoted(task)
    const row = await expectEvents(
      app,
      ({ id }: RecordRow) => [`record.created task/${id}`],
      () => add(name, { title: 'Write', meta: { a: [1] }, slug: null }),
    )
    assert.match(row.id, /^rec_[0-9a-z]{26}$/)
    assert.deepEqual(row, {
      id: row.id,
      revision: 1,
      createdAt: row.createdAt,
      updatedAt: row.createdAt,
      data: { title: 'Write', status: 'open', priority: 3, meta: { a: [1] } },
    })
    const place = { name, record, id: row.id }
    assert.deepEqual(await client().records.get(place), row)
    const subject = `task/${row.id}`
    const changed = await expectEvents(app, [`record.updated ${subject}`], () =>
      client().records.update({ ...place, revision: 1, data: { title: 'Read', meta: null, status: 'open' } }),
    )
    assert.deepEqual(changed.data, { title: 'Read', status: 'open', priority: 3 })
    assert.equal(changed.revision, 2)
    assert.equal(changed.createdAt, row.createdAt)
    await expectEvents(app, [`record.updated ${subject}`, `record.transitioned ${subject}`], () =>
      client().records.update({ ...place, revision: 2, data: { status: 'done' } }),
    )
    const { items } = await client().events.list({ name, types: ['record.transitioned'] })
    const { payload } = items[0] as { payload: { transitions: object; before: object } }
    assert.deepEqual(payload.transitions, [{ field: 'status', from: 'open', to: 'done' }])
    assert.deepEqual(payload.before, changed.data)
    await expectEvents(app, [`record.deleted ${subject}`], () =>
      client().records.delete({ ...place, revision: 3 }),
    )
    assertFault(await call('get', place), 'RECORD_NOT_FOUND', place)
    assert.deepEqual((await client().records.list({ name, record })).rows, [])
  })

  it('answer what is not there, or not as the caller has seen it', async () => {
    const name = await promoted(task)
    const { id } = await add(name, { title: 'a' })
    const place = { name, record, id }
    await expectEvents(app, [], async () => {
      const unknown = { name, record: 'other' }
      for (const operation of ['list', 'get', 'create', 'update', 'delete'])
        assertFault(
          await call(operation, { ...unknown, id, revision: 1, data: {} }),
          'RECORD_SCHEMA_NOT_FOUND',
          unknown,
        )
      const gone = { ...place, id: 'rec_none' }
      for (const operation of ['get', 'update', 'delete'])
        assertFault(await call(operation, { ...gone, revision: 1, data: {} }), 'RECORD_NOT_FOUND', gone)
      for (const operation of ['update', 'delete'])
        assertFault(await call(operation, { ...place, revision: 7, data: {} }), 'RECORD_REVISION_CONFLICT', {
          ...place,
          expectedRevision: 7,
          actualRevision: 1,
        })
    })
  })

  it('refuse what breaks the schema, at the field', async () => {
    const name = await promoted(task)
    const { id } = await add(name, { title: 'a', slug: 'one', status: 'done' })
    const place = { name, record, id, revision: 1 }
    const create = (data: object) => call('create', { name, record, data })
    const update = (data: object) => call('update', { ...place, data })
    await expectEvents(app, [], async () => {
      assertInvalid(await create({}), ['data', 'title'])
      assertInvalid(await create({ title: 'a', nothing: 1 }), ['data', 'nothing'])
      assertInvalid(await create(JSON.parse('{"title":"a","__proto__":{}}')), ['data', '__proto__'])
      assertInvalid(await create({ title: 'a', constructor: 1 }), ['data', 'constructor'])
      assertInvalid(await call('create', { name, record, data: [] }), ['data'])
      assertInvalid(await call('create', { name, record }), ['data'])
      assertInvalid(await create({ title: 'a', slug: 'one' }), ['data', 'slug'])
      assertInvalid(await create({ title: 'a', parent: 'rec_none' }), ['data', 'parent'])
      assertInvalid(await create({ title: 'a', parent: 'rec_\0' }), ['data', 'parent'])
      assertInvalid(await create({ title: 'a', meta: 'x'.repeat(300_000) }), ['data'])
      assertInvalid(await update({ title: null }), ['data', 'title'])
      assertInvalid(await update({ priority: 9 }), ['data', 'priority'])
      const moved = await update({ status: 'open' })
      assertInvalid(moved, ['data', 'status'])
      assert.match(moved.body.data.issues[0].message, /from done to open/)
      assertInvalid(await call('update', { ...place, id: 'rec_none', data: { nothing: 1 } }), [
        'data',
        'nothing',
      ])
    })
    const other = await add(name, { title: 'b', parent: id, slug: 'two' })
    const taken = { name, record, id: other.id, revision: 1, data: { slug: 'one' } }
    assertInvalid(await call('update', taken), ['data', 'slug'])
    await client().records.update({ ...place, data: { slug: null, status: 'done' } })
    assert.equal((await client().records.update(taken)).data.slug, 'one')
    assert.equal(
      (await client().records.update({ ...taken, revision: 2, data: { slug: 'one' } })).revision,
      3,
    )
  })

  it('lead to rows that are there when they are written', async () => {
    const name = await promoted(task)
    const [target, other] = [await add(name, { title: 'a' }), await add(name, { title: 'b' })]
    const row = await add(name, { title: 'c', parent: target.id })
    await client().records.delete({ name, record, id: target.id, revision: 1 })
    const update = (revision: number, data: object) =>
      call('update', { name, record, id: row.id, revision, data })
    assertInvalid(await update(1, { title: 'd', parent: target.id }), ['data', 'parent'])
    // What does not write the ref is not held up by it.
    assert.equal((await update(1, { title: 'd' })).body.data.parent, target.id)
    assert.equal((await update(2, { parent: other.id })).body.data.parent, other.id)
  })

  it('keep keys of JSON that mean something to JavaScript', async () => {
    const name = await promoted(task)
    const data = '{"title":"a","meta":{"__proto__":{"x":[]},"constructor":1}}'
    const { id } = (await call('create', { name, record, data: JSON.parse(data) })).body
    const read = await call('get', { name, record, id })
    assert.deepEqual(Object.entries(read.body.data.meta), [
      ['__proto__', { x: [] }],
      ['constructor', 1],
    ])
  })

  it('leave no entry behind, and take no room for what is gone', async () => {
    const entries = await entryCount()
    const name = await promoted(task)
    const rows = await Promise.all(['a', 'b', 'c'].map((title) => add(name, { title, slug: title })))
    assert.equal(await entryCount(), entries + 9)
    for (const { id } of rows)
      await client().records.update({ name, record, id, revision: 1, data: { priority: 5 } })
    assert.equal(await entryCount(), entries + 9)
    for (const { id } of rows) await client().records.delete({ name, record, id, revision: 2 })
    assert.equal(await entryCount(), entries)
    const { id: repoId } = await repoNamed(app, name)
    const { bytes, row_count } = await app.database.db
      .selectFrom('record_collections')
      .select(['bytes', 'row_count'])
      .where('repo_id', '=', repoId)
      .executeTakeFirstOrThrow()
    assert.deepEqual([bytes, row_count], [0, 0])
  })

  it('are no more than they may be, in rows and in bytes, and can still be removed then', async () => {
    const name = await promoted(task)
    const rows: RecordRow[] = []
    for (let i = 0; i < 20; i++) rows.push(await add(name, { title: `${i}` }))
    assertFault(await call('create', { name, record, data: { title: 'x' } }), 'QUOTA_EXCEEDED', {
      scope: 'org',
      limit: 20,
      observed: 20,
      projected: 21,
    })
    await client().records.delete({ name, record, id: rows[0]?.id ?? '', revision: 1 })
    await add(name, { title: 'x' })

    const orgBytes = async () =>
      (
        await app.database.db
          .selectFrom('orgs')
          .select('size_bytes')
          .where('slug', '=', owner().slug)
          .executeTakeFirstOrThrow()
      ).size_bytes
    const before = await orgBytes()
    const full = await promoted(task)
    const big = await add(full, { title: 'big', meta: 'x'.repeat(200_000) })
    assert.ok((await orgBytes()) > before)
    const { id: repoId } = await repoNamed(app, full)
    await app.database.transact((tx) =>
      tx
        .updateTable('record_collections')
        .set({ bytes: 100 * 1024 * 1024 })
        .where('repo_id', '=', repoId)
        .execute(),
    )
    const refused = await call('create', { name: full, record, data: { title: 'x' } })
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.data.scope],
      [429, 'QUOTA_EXCEEDED', 'size'],
    )
    await client().records.delete({ name: full, record, id: big.id, revision: 1 })
    await client().repos.delete({ name: full })
    assert.equal(await orgBytes(), before)
  })

  it('go with their repository, and with nobody else', async () => {
    const kept = await promoted(task)
    await add(kept, { title: 'kept', slug: 'kept' })
    const entries = await entryCount()
    const name = await promoted(task)
    for (const title of ['a', 'b']) await add(name, { title })
    await client().repos.delete({ name })
    assert.equal(await entryCount(), entries)
    assert.equal((await client().records.list({ name: kept, record })).rows.length, 1)
  })

  it('are kept out of sight while nothing declares them, and are back when something does', async () => {
    const name = await promoted(task)
    const row = await add(name, { title: 'a' })
    await promoteRecords(app, name)
    assertFault(await call('get', { name, record, id: row.id }), 'RECORD_SCHEMA_NOT_FOUND', { name, record })
    const [entry] = await promoteRecords(app, name, task)
    assert.deepEqual([entry?.kind, entry?.steps], ['migrate', ['bring back record task with 1 row']])
    assert.deepEqual(await client().records.get({ name, record, id: row.id }), row)
  })

  it('are not written in a repository that is read-only, and read with less than they are written with', async () => {
    const name = await promoted(task)
    const { id } = await add(name, { title: 'a' })
    await client().repos.update({ name, readOnly: true })
    assertForbidden(await call('create', { name, record, data: { title: 'b' } }), 'write_frozen')
    assertForbidden(await call('delete', { name, record, id, revision: 1 }), 'write_frozen')
    assert.equal((await client().records.get({ name, record, id })).id, id)
  })

  it('say so when the schema in force cannot be read', async () => {
    const name = await promoted(task)
    const { id: repoId } = await repoNamed(app, name)
    const declared = JSON.stringify({ name: 'task', fields: { a: { type: 'colour' } } })
    await app.database.transact((tx) =>
      tx.updateTable('record_collections').set({ declared }).where('repo_id', '=', repoId).execute(),
    )
    const answer = await call('list', { name, record })
    assert.deepEqual(
      [answer.status, answer.body.code, answer.body.data.record],
      [422, 'RECORD_SCHEMA_INVALID', 'task'],
    )
    assert.match(answer.body.data.reason, /fields\.a\.type/)
  })

  it('are written by many at once, one revision after the other', async () => {
    const name = await promoted(task)
    const { id } = await add(name, { title: '0' })
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        call('update', { name, record, id, revision: 1, data: { title: `${i}` } }),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)])
    const taken = await Promise.all(
      Array.from({ length: 6 }, () => call('create', { name, record, data: { title: 'x', slug: 'same' } })),
    )
    assert.deepEqual(taken.map(({ status }) => status).sort(), [200, ...Array(5).fill(400)])
  })
})
