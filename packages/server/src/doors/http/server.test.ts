import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createSqlite,
  openSocket,
  parseAnswer,
  type RawAnswer,
  readToEnd,
  sendRaw,
  startTestApp,
  type TestApp,
  useApp,
} from '../../testing/index.ts'

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

function expectProtected(headers: Headers, what: string): void {
  for (const [name, value] of Object.entries(securityHeaders)) assert.equal(headers.get(name), value, what)
  assert.match(
    headers.get('content-security-policy') ?? '',
    /default-src 'none'.*frame-ancestors 'none'/,
    what,
  )
  assert.equal(headers.get('x-powered-by'), null)
  assert.equal(headers.get('server'), null)
}

describe('requests that no client should send', () => {
  const app = useApp(createSqlite)

  const raw = async (...parts: (string | Buffer)[]): Promise<RawAnswer> =>
    parseAnswer(await sendRaw(app.url, ...parts))

  function expectEnvelope(answer: RawAnswer, envelope: object): void {
    assert.deepEqual(JSON.parse(answer.body), envelope)
    assert.equal(answer.status, JSON.parse(answer.body).status)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    expectProtected(answer.headers, answer.body)
  }

  const malformed = (message: string) => ({
    defined: true,
    code: 'BAD_REQUEST',
    status: 400,
    message: 'Bad request',
    data: { issues: [{ path: [], message }] },
  })

  it('get the envelope when they are not HTTP', async () => {
    const garbage = [
      'HELLO\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'GET / HTTP/9.9\r\n\r\n',
      'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n',
      'POST /api/v1/repos/list HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      'POST /api/v1/repos/list HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n',
      'POST /api/v1/repos/list HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    ]
    for (const text of garbage)
      expectEnvelope(await raw(text), malformed('This is not a well-formed HTTP request'))
  })

  it('get the envelope when they name no host', async () => {
    expectEnvelope(
      await raw('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'),
      malformed('HTTP/1.1 asks for a Host header'),
    )
    assert.equal((await raw('GET /healthz HTTP/1.0\r\n\r\n')).status, 200)
  })

  it('get the envelope when their headers have no end', async () => {
    expectEnvelope(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(100_000)}\r\n\r\n`), {
      defined: false,
      code: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
      status: 431,
      message: 'The request could not be read',
      data: {},
    })
  })

  it('get the envelope when they expect what nobody knows', async () => {
    expectEnvelope(
      await raw('POST /api/v1/repos/list HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nConnection: close\r\n\r\n'),
      {
        defined: false,
        code: 'EXPECTATION_FAILED',
        status: 417,
        message: 'Only Expect: 100-continue is understood',
        data: {},
      },
    )
  })

  it('may ask whether to go on', async () => {
    const text = await sendRaw(
      app.url,
      'POST /api/v1/tokens/validate HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n' +
        'Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{"token":"x"}',
    )
    assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    assert.equal(JSON.parse(parseAnswer(text).body).valid, false)
  })

  it('reach the sign-in routes only with methods these have', async () => {
    for (const method of ['TRACE', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await raw(
        `${method} /api/auth/sign-in/email HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      )
      assert.equal(answer.headers.get('allow'), 'GET, POST')
      expectEnvelope(answer, {
        defined: false,
        code: 'METHOD_NOT_SUPPORTED',
        status: 405,
        message: 'Use GET, POST here',
        data: {},
      })
    }
  })

  it('keep their connection when there is no body to come', async () => {
    for (const path of [
      '/nothing',
      '/api/v1/repos/get',
      '/git/owner/none.git/info/refs?service=git-upload-pack',
    ]) {
      const response = await fetch(app.url + path)
      await response.arrayBuffer()
      assert.ok(response.status >= 400, path)
      assert.equal(response.headers.get('connection'), 'keep-alive', path)
    }
  })

  it('do not disturb the server when they break off', async () => {
    for (const part of [
      'POST',
      'POST /api/v1/tokens/validate HTTP/1.1\r\nHost: x\r\n',
      'POST /api/v1/tokens/validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
      'POST /api/v1/tokens/validate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{',
    ]) {
      const socket = openSocket(app.url)
      const closed = readToEnd(socket)
      await new Promise<void>((resolve) => socket.write(part, () => resolve()))
      await fetch(`${app.url}/healthz`)
      socket.destroy()
      await closed
    }
    assert.equal((await fetch(`${app.url}/healthz`)).status, 200)
    assert.ok(!app.logged().includes('"level":"error"'))
  })
})

describe('a body over the limit', () => {
  const LIMIT = 4096
  const app = useApp(createSqlite, { TRELLIS_MAX_BODY_BYTES: String(LIMIT) })

  const head = 'POST /api/v1/tokens/validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

  function expectTooLarge(text: string): number {
    const answer = parseAnswer(text)
    const { data, ...rest } = JSON.parse(answer.body)
    assert.deepEqual(rest, {
      defined: true,
      code: 'PAYLOAD_TOO_LARGE',
      status: 413,
      message: 'Request payload exceeds the supported limit',
    })
    assert.equal(answer.status, 413)
    assert.deepEqual(Object.keys(data), ['scope', 'limit', 'observed'])
    assert.equal(data.limit, LIMIT)
    return data.observed
  }

  it('is refused by its announced length, before it is sent', async () => {
    assert.equal(
      expectTooLarge(await sendRaw(app.url, `${head}Content-Length: 99999999\r\n\r\n`)),
      99_999_999,
    )
  })

  it('is refused so that a client which is still sending sees the answer', async () => {
    const body = Buffer.alloc(20 * 1024 * 1024, 'x')
    const announced = await sendRaw(app.url, `${head}Content-Length: ${body.length}\r\n\r\n`, body)
    assert.equal(expectTooLarge(announced), body.length)
    const chunk = `${body.length.toString(16)}\r\n`
    const chunked = await sendRaw(
      app.url,
      `${head}Transfer-Encoding: chunked\r\n\r\n`,
      chunk,
      body,
      '\r\n0\r\n\r\n',
    )
    assert.ok(expectTooLarge(chunked) > LIMIT)
  })

  it('is refused without resetting the connection of who sends on after the answer, as proxies do', async () => {
    const { hostname: host, port } = new URL(app.url)
    const socket = connect({ host, port: Number(port), allowHalfOpen: true })
    const failures: Error[] = []
    socket.on('error', (error) => failures.push(error))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.write(`${head}Content-Length: ${10 * LIMIT}\r\n\r\n`)
    await once(socket, 'end')
    expectTooLarge(answer)
    for (let i = 0; i < 5; i++) await new Promise((written) => socket.write(Buffer.alloc(1000), written))
    assert.deepEqual(failures, [])
    socket.destroy()
  })

  it('is refused to an ordinary client too', async () => {
    const { status, body } = await app.call('tokens/validate', { token: 'x'.repeat(5_000_000) })
    assert.deepEqual([status, body.code], [413, 'PAYLOAD_TOO_LARGE'])
  })

  it('is refused for sign-in as well', async () => {
    const response = await fetch(`${app.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'x'.repeat(LIMIT) }),
    })
    assert.equal(response.status, 413)
    assert.equal(((await response.json()) as { code: string }).code, 'PAYLOAD_TOO_LARGE')
  })

  it('is not one that has exactly the limit', async () => {
    const filled = JSON.stringify({ token: '' }).length
    const { status, body } = await app.call('tokens/validate', { token: 'x'.repeat(LIMIT - filled) })
    assert.deepEqual([status, body.valid], [200, false])
    assert.equal((await app.call('tokens/validate', { token: 'x'.repeat(LIMIT - filled + 1) })).status, 413)
  })
})

describe('every answer', () => {
  it('carries the headers that protect a browser', async () => {
    await using database = await createSqlite()
    await using app = await startTestApp(database, { TRELLIS_CORS_ORIGINS: 'https://console.example' })
    const asked: [string, RequestInit][] = [
      ['/', { redirect: 'manual' }],
      ['/healthz', {}],
      ['/readyz', {}],
      ['/metrics', {}],
      ['/limits', {}],
      ['/openapi.json', {}],
      ['/reference', {}],
      ['/reference.css', {}],
      ['/nothing', {}],
      ['/api/v1/repos/list', { method: 'POST' }],
      ['/api/v1/repos/list', { method: 'GET' }],
      ['/api/v1/tokens/validate', { method: 'POST' }],
      ['/api/v1/keys/list', { method: 'POST', headers: { authorization: `Bearer ${app.ownerKey}` } }],
      ['/api/auth/get-session', {}],
      ['/api/auth/nothing', {}],
    ]
    for (const [path, init] of asked) {
      const response = await fetch(app.url + path, init)
      await response.arrayBuffer()
      expectProtected(response.headers, `${init.method ?? 'GET'} ${path}`)
      assert.match(response.headers.get('x-request-id') ?? '', /^req_/, path)
    }
    const preflight = await fetch(`${app.url}/api/v1/repos/list`, {
      method: 'OPTIONS',
      headers: { origin: 'https://console.example', 'access-control-request-method': 'POST' },
    })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers.get('x-content-type-options'), 'nosniff')
  })

  it('has an id of its own', async () => {
    await using database = await createSqlite()
    await using app = await startTestApp(database)
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => (await fetch(`${app.url}/healthz`)).headers.get('x-request-id')),
    )
    assert.equal(new Set(ids).size, 50)
  })
})

describe('a server that is told to stop', () => {
  /** A request that waits for `release`; the connection it came on stays open. */
  async function startSlow(app: TestApp) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const gate = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    // The request below cannot write before this transaction ends.
    const writing = app.database.transact(async () => {
      held.resolve()
      await gate.promise
    })
    await held.promise
    const answer = new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const call = request(
        `${app.url}/api/v1/repos/create`,
        {
          agent,
          method: 'POST',
          headers: { authorization: `Bearer ${app.ownerKey}`, 'content-type': 'application/json' },
        },
        (response) => {
          let body = ''
          response.on('data', (chunk) => {
            body += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode, body }))
        },
      )
      call.on('error', reject)
      call.end('{"name":"slow"}')
    })
    await inFlight(app, 1)
    return {
      answer,
      release: async () => {
        gate.resolve()
        await writing
      },
      [Symbol.dispose]: () => {
        gate.resolve()
        agent.destroy()
      },
    }
  }

  async function inFlight(app: TestApp, count: number): Promise<void> {
    const wanted = `trellis_http_requests_in_flight ${count + 1}\n`
    while (!(await (await fetch(`${app.url}/metrics`)).text()).includes(wanted)) await sleep(5)
  }

  it('finishes what is in flight, then goes at once, though clients would keep their connections', {
    timeout: 20_000,
  }, async () => {
    await using database = await createSqlite()
    await using app = await startTestApp(database)
    using slow = await startSlow(app)
    const stopped = app.stop()
    await slow.release()
    const { status, body } = await slow.answer
    assert.equal(status, 200)
    assert.equal(JSON.parse(body).name, 'slow')
    // The grace period is longer than this test may take.
    await stopped
    await assert.rejects(fetch(`${app.url}/healthz`))
  })

  it('is not ready while it finishes', { timeout: 20_000 }, async () => {
    await using database = await createSqlite()
    await using app = await startTestApp(database)
    using slow = await startSlow(app)
    // A request that has begun, but not ended, when the server is told.
    const socket = openSocket(app.url)
    socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n')
    await inFlight(app, 1)
    const stopped = app.stop()
    socket.write('Connection: close\r\n\r\n')
    const ready = parseAnswer(await readToEnd(socket))
    assert.deepEqual(
      [ready.status, JSON.parse(ready.body)],
      [503, { status: 'unavailable', reason: 'The server is stopping' }],
    )
    await slow.release()
    assert.equal((await slow.answer).status, 200)
    await stopped
  })
})
