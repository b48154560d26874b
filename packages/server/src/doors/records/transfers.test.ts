import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase, useRecords } from '../../testing/index.ts'

const declared = {
  name: 'task',
  fields: { title: { type: 'string', required: true }, slug: { type: 'string', unique: true } },
  indexes: ['title'],
}

onEachDatabase('rows as lines', (create) => {
  const { app, client, owner, promoted: promotedWith } = useRecords(create)
  const promoted = () => promotedWith(declared)
  const record = 'task'

  const ask = (path: string, body: string | ReadableStream, token: string | undefined = owner().token) =>
    fetch(`${app.url}/api/v1/records/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body,
      ...(typeof body !== 'string' && { duplex: 'half' as const }),
    })
  const send = (name: string, body: string | ReadableStream, token?: string) =>
    ask(`import?name=${name}&record=${record}`, body, token)
  const take = (name: string, more: object = {}, token?: string) =>
    ask('export', JSON.stringify({ name, record, ...more }), token)
  const linesIn = async (response: Response) =>
    (await response.text())
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const lines = (count: number) =>
    Array.from(
      { length: count },
      (_, i) => `${JSON.stringify({ data: { title: `t${i}`, slug: `s${i}` } })}\n`,
    )

  it('go in and out, however many, in pieces that end anywhere', async () => {
    const name = await promoted()
    const bytes = Buffer.from(lines(1234).join('').replaceAll('t7', 'tä𝄞'))
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < bytes.length; i += 777) controller.enqueue(bytes.subarray(i, i + 777))
        controller.close()
      },
    })
    const answer = await send(name, body)
    assert.deepEqual([answer.status, await answer.json()], [200, { imported: 1234 }])
    const response = await take(name)
    assert.match(response.headers.get('content-type') ?? '', /^application\/x-ndjson/)
    const rows = await linesIn(response)
    assert.equal(rows.length, 1234)
    assert.deepEqual(
      rows.map(({ data }) => data.slug),
      Array.from({ length: 1234 }, (_, i) => `s${i}`),
    )
    assert.equal(rows[7].data.title, 'tä𝄞')
    const { items } = await client().events.list({ name, types: ['record.created'], limit: 100 })
    assert.equal(items.length, 100)
    assert.deepEqual(await linesIn(await take(name, { where: { title: 't5' } })), [rows[5]])

    const copy = await promoted()
    const again = await send(copy, rows.map((row) => JSON.stringify(row)).join('\r\n'))
    assert.deepEqual(await again.json(), { imported: 1234 })
  })

  it('are refused in the words of the operations', async () => {
    const name = await promoted()
    const response = await ask('export', JSON.stringify({ name, record: 7 }))
    const { data } = (await response.json()) as { data: unknown }
    assert.deepEqual(data, { issues: [{ path: ['record'], message: 'Must be a string' }] })
  })

  it('stop at a line that is wrong, which is named, and say what was added before', async () => {
    const wrong: [title: string, line: string, path: unknown[]][] = [
      ['no JSON', '{', [152]],
      ['no data', '{"title": "x"}', [152, 'data']],
      ['data that breaks the schema', '{"data": {"nothing": 1, "title": "x"}}', [152, 'data', 'nothing']],
      ['a value that is taken', '{"data": {"title": "x", "slug": "s149"}}', [152, 'data', 'slug']],
      ['a prototype', '{"data": {"title": "x", "__proto__": 1}}', [152, 'data', '__proto__']],
    ]
    for (const [title, line, path] of wrong) {
      const name = await promoted()
      const response = await send(name, `${lines(150).join('')}\n${line}\n${lines(10).join('')}`)
      const { code, data } = (await response.json()) as { code: string; data: { issues: object[] } }
      assert.deepEqual([response.status, code], [400, 'BAD_REQUEST'], title)
      const [first, last] = data.issues as { path?: unknown[]; message: string }[]
      assert.deepEqual(first?.path, path, title)
      const added = (await linesIn(await take(name))).length
      assert.equal(last?.message, `${added} rows were added before`)
      assert.ok(added >= 100 && added <= 150, `${added}`)
    }
  })

  it('ask for what they need before anything is read or sent', async () => {
    const name = await promoted()
    const { secret } = await client().tokens.create({ name, scope: 'read' })
    const codeOf = async (response: Response) => [
      response.status,
      ((await response.json()) as { code: string }).code,
    ]
    assert.deepEqual(await codeOf(await send(name, '', secret)), [403, 'FORBIDDEN'])
    assert.equal((await take(name, {}, secret)).status, 200)
    assert.deepEqual(await codeOf(await send(name, 'x', '')), [401, 'UNAUTHENTICATED'])
    assert.deepEqual(await codeOf(await take(name, {}, '')), [401, 'UNAUTHENTICATED'])
    assert.deepEqual(await codeOf(await take('nowhere')), [404, 'REPO_NOT_FOUND'])
    assert.deepEqual(await codeOf(await send('nowhere', 'x')), [404, 'REPO_NOT_FOUND'])
    assert.deepEqual(await codeOf(await take(name, { record: 'none' })), [404, 'RECORD_SCHEMA_NOT_FOUND'])
    assert.deepEqual(await codeOf(await take(name, { where: { nope: 1 } })), [400, 'BAD_REQUEST'])
    assert.deepEqual(await codeOf(await ask('import?name=a', 'x')), [400, 'BAD_REQUEST'])
    assert.deepEqual(await codeOf(await fetch(`${app.url}/api/v1/records/export`)), [
      405,
      'METHOD_NOT_SUPPORTED',
    ])
    assert.deepEqual(await (await send(name, '')).json(), { imported: 0 })
    const long = await send(name, `{"data": {"title": "${'x'.repeat(600_000)}"}}`)
    assert.deepEqual(await codeOf(long), [400, 'BAD_REQUEST'])
  })
})
