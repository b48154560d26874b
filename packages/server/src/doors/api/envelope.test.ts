import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { ErrorEnvelope } from '@trellis/contract'
import { sql } from 'kysely'
import {
  type Answer,
  assertUnauthenticated,
  createSqlite,
  startTestApp,
  useApp,
} from '../../testing/index.ts'

describe('the error envelope', () => {
  const app = useApp(createSqlite)
  let token: string

  before(async () => {
    token = app.ownerKey ?? ''
  })

  async function post(path: string, body: string | Buffer | undefined, headers: Record<string, string> = {}) {
    const response = await fetch(`${app.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: new Uint8Array(Buffer.from(body)) }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() } as Answer
  }

  /** The whole body, key by key, and the headers that go with every failure. */
  function expectEnvelope(answer: Answer, envelope: ErrorEnvelope): void {
    assert.deepEqual(answer.body, envelope)
    assert.equal(answer.status, envelope.status)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.match(answer.headers.get('x-request-id') ?? '', /^req_\w+$/)
  }

  const badRequest = (...issues: object[]) => ({
    defined: true,
    code: 'BAD_REQUEST',
    status: 400,
    message: 'Bad request',
    data: { issues },
  })

  const unauthenticated = {
    defined: true,
    code: 'UNAUTHENTICATED',
    status: 401,
    data: {},
  }
  const assertRefused = (answer: Answer, message: RegExp) => {
    expectEnvelope(answer, { ...unauthenticated, message: answer.body.message })
    assertUnauthenticated(answer, message)
  }

  it('asks a caller without credential to sign in, and says where', async () => {
    const answer = await app.call('repos/list', {})
    assertRefused(answer, /^Sign in required: /)
    assert.equal(
      answer.headers.get('www-authenticate'),
      `Bearer resource_metadata="${app.url}/.well-known/oauth-protected-resource"`,
    )
  })

  it('answers every credential that is not accepted alike', async () => {
    const bad = [
      'Bearer garbage',
      'Bearer trk_garbage',
      `Bearer trk_${'0'.repeat(42)}`,
      `Bearer trt_${'0'.repeat(42)}`,
      `Bearer tra_${'0'.repeat(42)}`,
      'Bearer a.b',
      'Bearer %E0%A4%A',
      'Bearer',
      'Bearer two words',
      'Basic b3duZXI6eA==',
      'Digest x',
      'x',
      `${token}`,
      `Bearer ${token}x`,
      `Bearer ${'x'.repeat(8000)}`,
    ]
    for (const authorization of bad) {
      const answer = await post('repos/list', '{}', { authorization })
      assertRefused(
        answer,
        /^This (credential is not valid here, or ended long ago|kind of credential is not accepted here): /,
      )
      assert.match(
        answer.headers.get('www-authenticate') ?? '',
        /, error="invalid_token", error_description="This /,
      )
    }
    for (const cookie of [
      'trellis.session_token=x',
      'trellis.session_token=%zz',
      'trellis.session_token=a.b; c',
    ])
      assertRefused(await app.call('repos/list', {}, { headers: { cookie } }), /^Sign in required: /)
  })

  it('asks for a credential before it says anything about the input', async () => {
    assertRefused(await post('repos/create', '{', { authorization: 'Bearer x' }), /^This credential /)
    assertRefused(await app.call('repos/create', { name: '???' }), /^Sign in required: /)
  })

  it('lists everything that is wrong with the input, each at its path', async () => {
    const answer = await post('repos/create', JSON.stringify({ name: 'A!', defaultBranch: '' }))
    expectEnvelope(
      answer,
      badRequest(
        {
          path: ['name'],
          message:
            'Use lowercase letters, digits, dots, dashes and underscores, starting with a letter or digit',
        },
        { path: ['defaultBranch'], message: 'Must have at least 1 character' },
      ),
    )
    const nested = await post('keys/create', JSON.stringify({ name: 7, scopes: ['repo:read', 'x', 1] }))
    assert.equal(nested.status, 400)
    assert.deepEqual(
      nested.body.data.issues.map(({ path }: { path: unknown }) => path),
      [['name'], ['scopes', 1], ['scopes', 2]],
    )
    const limit = await post('repos/list', '{"limit":101}')
    expectEnvelope(limit, badRequest({ path: ['limit'], message: 'Must be at most 100' }))
  })

  it('lists every element of a list that is wrong', async () => {
    const answer = await post('events/list', JSON.stringify({ types: Array(32).fill('NO') }))
    assert.deepEqual(
      answer.body.data.issues.map(({ path }: { path: unknown }) => path),
      Array.from({ length: 32 }, (_, i) => ['types', i]),
    )
  })

  it('says what is wrong with a body that is not JSON', async () => {
    for (const body of [
      '{',
      '{"name":}',
      "{'name':'x'}",
      'name=x',
      '{"a":1} {"b":2}',
      '\0',
      '{"a":01}',
      'NaN',
    ]) {
      const answer = await post('repos/create', body)
      const { message } = answer.body.data.issues[0]
      expectEnvelope(answer, badRequest({ path: [], message }))
      assert.match(message, /^The body is not valid JSON: /)
    }
  })

  it('does not go into what is nested without end', async () => {
    const answer = await post('runs/dispatch', `{"input":${'['.repeat(501)}${']'.repeat(501)}}`)
    expectEnvelope(answer, badRequest({ path: [], message: 'The body has more than 500 levels' }))
  })

  it('does not guess at bytes that are not UTF-8', async () => {
    const latin1 = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xe9, 0xff]), Buffer.from('"}')])
    const answer = await post('repos/create', latin1)
    const { message } = answer.body.data.issues[0]
    expectEnvelope(answer, badRequest({ path: [], message }))
    assert.match(message, /^The body is not valid JSON: .*utf-8/)
  })

  it('asks for JSON by its name', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'json', ''])
      expectEnvelope(
        await post('repos/create', '{"name":"typed"}', { 'content-type': type }),
        badRequest({
          path: [],
          message: 'Send the body as JSON, with the header Content-Type: application/json',
        }),
      )
    for (const type of ['application/json', 'application/JSON; charset=utf-8', 'application/problem+json'])
      assert.equal((await post('repos/get', '{"name":"typed"}', { 'content-type': type })).status, 404, type)
  })

  it('refuses JSON that is no object', async () => {
    for (const body of ['null', '[]', '"text"', '7', 'true', '[{"name":"x"}]']) {
      for (const path of ['repos/create', 'repos/list', 'keys/list']) {
        const answer = await post(path, body)
        const { message } = answer.body.data.issues[0]
        expectEnvelope(answer, badRequest({ path: [], message }))
      }
    }
  })

  it('takes no body, an empty one and {} for the same where nothing is needed', async () => {
    const listed = await post('keys/list', '{}')
    assert.equal(listed.status, 200)
    for (const answer of [
      await post('keys/list', undefined),
      await post('keys/list', ''),
      await app.call('keys/list', undefined, { token }),
      await app.call('keys/list', {}, { token }),
    ]) {
      assert.equal(answer.status, 200)
      assert.deepEqual(
        answer.body.items.map(({ id }: { id: string }) => id),
        listed.body.items.map(({ id }: { id: string }) => id),
      )
    }
    assert.equal((await app.call('repos/list', undefined, { token })).status, 200)
    assert.deepEqual((await app.call('repos/create', undefined, { token })).body.data.issues[0].path, [
      'name',
    ])
  })

  it('says which method to use', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await fetch(`${app.url}/api/v1/repos/list`, { method })
      assert.equal(response.headers.get('allow'), 'POST')
      expectEnvelope(
        { status: response.status, headers: response.headers, body: await response.json() },
        {
          defined: false,
          code: 'METHOD_NOT_SUPPORTED',
          status: 405,
          message: 'Use POST here',
          data: {},
        },
      )
    }
    const page = await fetch(`${app.url}/healthz`, { method: 'POST' })
    assert.equal(page.status, 405)
    assert.match(page.headers.get('allow') ?? '', /\bGET\b/)
    assert.equal(((await page.json()) as { code: string }).code, 'METHOD_NOT_SUPPORTED')
    const head = await fetch(`${app.url}/api/v1/repos/list`, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [405, ''])
  })

  it('knows no other paths', async () => {
    const paths = [
      '/api/v1/repos/nothing',
      '/api/v1/',
      '/api/v1/repos/list/',
      '/api/v1//repos/list',
      '/api/v1/__proto__',
      '/api/v1/constructor',
      '/api/v1/repos%2Flist',
      '/api/v2/repos/list',
      '/nothing',
      '/__proto__',
      '/HEALTHZ',
    ]
    for (const path of paths) {
      const response = await fetch(app.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      })
      expectEnvelope(
        { status: response.status, headers: response.headers, body: await response.json() },
        { defined: false, code: 'NOT_FOUND', status: 404, message: 'There is nothing here', data: {} },
      )
    }
  })

  it('looks at the path without its query', async () => {
    assert.equal((await post('repos/list?limit=x', '{}')).status, 200)
  })

  it('gives the data of a declared error', async () => {
    await app.client(token).repos.create({ name: 'taken' })
    expectEnvelope(await post('repos/create', '{"name":"taken"}'), {
      defined: true,
      code: 'REPO_ALREADY_EXISTS',
      status: 409,
      message: 'Repo already exists',
      data: { name: 'taken' },
    })
    expectEnvelope(await post('repos/get', '{"name":"none"}'), {
      defined: true,
      code: 'REPO_NOT_FOUND',
      status: 404,
      message: 'Repo not found',
      data: { name: 'none' },
    })
    expectEnvelope(await app.call('repos/list', {}, { token, org: 'elsewhere' }), {
      defined: true,
      code: 'FORBIDDEN',
      status: 403,
      message: 'You do not have access to this resource',
      data: { reason: 'not_a_member' },
    })
  })
})

describe('a bug', () => {
  it('is told to nobody but the log, and found there by its request id', async () => {
    await using database = await createSqlite()
    await using app = await startTestApp(database)
    const token = app.ownerKey
    await sql`alter table events rename to events_gone`.execute(app.database.db)
    const answer = await app.call('repos/create', { name: 'hello' }, { token })
    const requestId = answer.headers.get('x-request-id')
    assert.deepEqual(answer.body, {
      defined: false,
      code: 'INTERNAL_SERVER_ERROR',
      status: 500,
      message: `Something went wrong on our side. Mention request ${requestId} when you report it.`,
      data: {},
    })
    assert.equal(answer.status, 500)
    assert.ok(!JSON.stringify(answer.body).includes('events'))

    const lines = app
      .logged()
      .split('\n')
      .filter((line) => line.includes(String(requestId)))
    const told = lines.map((line) => JSON.parse(line)).find(({ level }) => level === 'error')
    assert.match(told.error.message, /no such table.*events/)
    assert.match(told.error.stack, /packages\/server\/src/)

    const metrics = await (await fetch(`${app.url}/metrics`)).text()
    assert.match(metrics, /^trellis_unexpected_errors_total 1$/m)

    // Nothing of it was kept, and the server goes on.
    await sql`alter table events_gone rename to events`.execute(app.database.db)
    assert.equal((await app.call('repos/get', { name: 'hello' }, { token })).status, 404)
    assert.equal((await app.call('repos/create', { name: 'hello' }, { token })).status, 200)
  })

  it('of a full storage is told as such, and changes nothing', async () => {
    await using database = await createSqlite()
    await using app = await startTestApp(database)
    const token = app.ownerKey
    await sql`pragma max_page_count = 1`.execute(app.database.db)
    let answer: Answer
    let made = 0
    do {
      answer = await app.call('repos/create', { name: `r${made}`, defaultBranch: 'b'.repeat(139) }, { token })
      if (answer.status === 200) made++
    } while (answer.status === 200)
    assert.deepEqual(answer.body, {
      defined: false,
      code: 'INSUFFICIENT_STORAGE',
      status: 507,
      message: 'The server has no room left; nothing was changed',
      data: {},
    })
    await sql`pragma max_page_count = 1000000`.execute(app.database.db)
    const { items } = await app.client(token).orgs.list({})
    assert.equal(items[0]?.repoCount, made)
    assert.equal((await app.call('repos/create', { name: `r${made}` }, { token })).status, 200)
  })
})
