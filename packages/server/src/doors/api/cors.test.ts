import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSqlite, type TestApp, useApp } from '../../testing/index.ts'

const CONSOLE = 'https://console.example'

const preflight = (app: TestApp, origin: string, path = '/api/v1/repos/list') =>
  fetch(app.url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  })

const corsHeaders = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('pages of other origins', () => {
  const app = useApp(createSqlite)

  it('may call nothing unless the configuration says so', async () => {
    const response = await preflight(app, CONSOLE)
    assert.equal(response.status, 405)
    assert.deepEqual(corsHeaders(response.headers), [])
    const call = await app.call('repos/list', {}, { headers: { origin: CONSOLE } })
    assert.deepEqual(corsHeaders(call.headers), [])
    const ok = await app.call('repos/list', {}, { token: app.ownerKey, headers: { origin: CONSOLE } })
    assert.deepEqual([ok.status, corsHeaders(ok.headers)], [200, []])
  })
})

describe('pages of configured origins', () => {
  const app = useApp(createSqlite, { TRELLIS_CORS_ORIGINS: `${CONSOLE}/, http://localhost:5173` })

  it('are told what they may send', async () => {
    for (const origin of [CONSOLE, 'http://localhost:5173']) {
      const response = await preflight(app, origin)
      assert.equal(response.status, 204)
      assert.equal(response.headers.get('access-control-allow-origin'), origin)
      assert.equal(response.headers.get('access-control-allow-methods'), 'POST')
      const allowed = response.headers.get('access-control-allow-headers')?.split(/,\s*/)
      assert.deepEqual(allowed, ['authorization', 'content-type', 'trellis-org'])
      assert.match(response.headers.get('vary') ?? '', /origin/i)
      assert.equal(await response.text(), '')
    }
  })

  it('may read answers and failures, and never with a cookie', async () => {
    const headers = { origin: CONSOLE }
    for (const answer of [
      await app.call('repos/list', {}, { token: app.ownerKey, headers }),
      await app.call('repos/list', {}, { headers }),
      await app.call('repos/create', { name: '!' }, { token: app.ownerKey, headers }),
      await app.call('nothing', {}, { headers }),
    ]) {
      assert.equal(answer.headers.get('access-control-allow-origin'), CONSOLE)
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
      assert.match(answer.headers.get('access-control-expose-headers') ?? '', /x-request-id.*retry-after/)
      assert.match(answer.headers.get('vary') ?? '', /origin/i)
    }
  })

  it('are those exactly', async () => {
    const others = [
      'http://console.example',
      'https://console.example:8443',
      'https://console.example.evil.example',
      'https://evil-console.example',
      'https://CONSOLE.example',
      'null',
      '*',
    ]
    for (const origin of others) {
      const response = await preflight(app, origin)
      assert.deepEqual([response.status, corsHeaders(response.headers)], [405, []], origin)
      const answer = await app.call('repos/list', {}, { token: app.ownerKey, headers: { origin } })
      assert.deepEqual(corsHeaders(answer.headers), [], origin)
    }
  })

  it('may call the API, not the rest', async () => {
    for (const path of ['/healthz', '/metrics', '/api/auth/sign-in/email'])
      assert.equal((await preflight(app, CONSOLE, path)).status, 405, path)
  })
})
