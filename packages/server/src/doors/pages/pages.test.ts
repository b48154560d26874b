import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errors } from '@trellis/contract'
import { allOperations } from '../../operations/implement.ts'
import {
  createPostgres,
  createSqlite,
  cutConnections,
  onEachDatabase,
  startTestApp,
  type TestApp,
  useApp,
} from '../../testing/index.ts'
import type { Json } from '../../testing/json.ts'

describe('pages', () => {
  const app = useApp(createSqlite, { TRELLIS_ORG_MAX_REPOS: '7' })

  const get = (path: string) => fetch(app.url + path, { redirect: 'manual' })
  const getJson = async (path: string): Promise<Json> => (await get(path)).json()

  it('begin at the reference', async () => {
    const response = await get('/')
    assert.equal(response.status, 302)
    assert.equal(response.headers.get('location'), '/reference')
  })

  it('have none of those that links in mail lead to, where no mail can be sent', async () => {
    for (const path of ['/forgot-password', '/reset-password/x', '/confirm-address/x'])
      assert.equal((await get(path)).status, 404, path)
  })

  it('say that the server is alive and ready', async () => {
    const alive = await get('/healthz')
    assert.deepEqual([alive.status, await alive.json()], [200, { status: 'ok' }])
    const ready = await get('/readyz')
    const { status, runtimesOff } = (await ready.json()) as { status: string; runtimesOff: string[] }
    assert.deepEqual([ready.status, status], [200, 'ready'])
    assert.match(runtimesOff.join(), /^sandbox: .* To turn it on: TRELLIS_SANDBOX=on/)
    assert.equal(ready.headers.get('cache-control'), 'no-store')
  })

  it('can be asked for their headers alone', async () => {
    for (const path of ['/', '/healthz', '/readyz', '/metrics', '/limits', '/openapi.json', '/reference']) {
      const whole = await get(path)
      const length = (await whole.arrayBuffer()).byteLength
      const head = await fetch(app.url + path, { method: 'HEAD', redirect: 'manual' })
      assert.equal(head.status, whole.status, path)
      assert.equal(head.headers.get('content-type'), whole.headers.get('content-type'), path)
      if (path !== '/metrics') assert.equal(head.headers.get('content-length'), String(length), path)
      assert.equal(await head.text(), '', path)
    }
  })

  it('tell the limits in force', async () => {
    const limits = await getJson('/limits')
    const rate = { perSecond: 100, burst: 2000 }
    assert.deepEqual(limits.requests, {
      perCredential: rate,
      perAddress: { ...rate, exempt: ['loopback'] },
    })
    assert.deepEqual(limits.connections, {
      perProcess: 10_000,
      perAddress: 500,
      leastBodyBytesPerSecond: 1000,
    })
    assert.equal(limits.body.jsonBytes, 1024 * 1024)
    assert.equal(limits.organization.repositories, 7)
    assert.deepEqual(limits.user, { ownedOrganizations: 100, keysPerOrganization: 100 })
  })

  it('give metrics as Prometheus reads them', async () => {
    await app.call('repos/list', {}, { token: app.ownerKey })
    await app.call('nothing/of/the/kind', {})
    const response = await get('/metrics')
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    const text = await response.text()
    const sample =
      /^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[0-9.e+-]+$|^$|^# (HELP|TYPE) /
    for (const line of text.split('\n')) assert.match(line, sample)
    assert.match(
      text,
      /^trellis_http_request_duration_seconds_count\{route="\/repos\/list",status="200"\} 1$/m,
    )
    assert.match(text, /^trellis_http_request_duration_seconds_count\{route="unknown",status="404"\} \d+$/m)
    assert.match(text, /^trellis_http_requests_in_flight 1$/m)
    assert.match(text, /^trellis_unexpected_errors_total 0$/m)
    // A path anybody can make up is not a series of its own.
    assert.ok(!text.includes('nothing'))
    assert.match(text, /^trellis_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
  })

  it('describe it for people, with nothing to load from elsewhere', async () => {
    const response = await get('/reference')
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(
      response.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'; frame-ancestors 'none'/,
    )
    const page = await response.text()
    // Examples name other hosts; nothing is loaded from those.
    const prose = page.replaceAll(/<pre[^>]*>.*?<\/pre>/gs, '')
    const urls = [...prose.matchAll(/\b(?:https?:)?\/\/[^\s"'<>]+/g)].map(([url]) => url)
    for (const url of urls) assert.ok(url.startsWith(`${app.url}/`), url)
    for (const [, target = ''] of page.matchAll(/\b(?:href|src|action)="([^"]*)"/g))
      assert.match(target, /^[#/](?!\/)/)
    const withoutOwn = page
      .replace('<script type="module" src="/reference.js"></script>', '')
      .replace('<script src="/theme.js"></script>', '')
    assert.ok(!/<script|<iframe|<img|\bon\w+=|@import|url\(/i.test(withoutOwn))
    for (const { path } of allOperations()) {
      assert.ok(page.includes(`href="#${path.slice(1)}"`), path)
      assert.ok(page.includes(`id="${path.slice(1)}"`), path)
      assert.ok(page.includes(`>POST /api/v1${path}</a></h3>`), path)
    }
    assert.ok(page.includes(`below <code>${app.url}/api/v1</code>`))
    for (const code of Object.keys(errors).filter((code) => !unused.has(code)))
      assert.ok(page.includes(code), code)
    // What is shared in the document is written out here, with what it means.
    assert.ok(!page.includes('$ref') && !page.includes('undefined'))
    assert.ok(page.includes('Needs <code>org:admin</code>.'))
    const text = page.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    assert.ok(text.includes('remote: string | null  // Where git clones from and pushes to.'))
    assert.ok(text.includes('lastPushAt: string | null  // ISO 8601, in UTC, with milliseconds.'))
    assert.ok(
      text.includes('} | {\n    op: "move"\n    from: string (≥ 1)\n    to: string (≥ 1)\n  })[] (1–10000)'),
    )
    assert.ok(text.includes(`-d '{"name":"hello","tag":"v1.0","oid":`))
    const css = await get('/reference.css')
    assert.match(css.headers.get('content-type') ?? '', /^text\/css/)
    assert.ok(!/@import|url\((?!\/assets\/)/i.test(await css.text()))
  })
})

/** Codes of operations that no contract has yet. */
const unused = new Set(
  Object.keys(errors).filter(
    (code) => !allOperations().some(({ procedure }) => code in procedure['~orpc'].errorMap),
  ),
)

describe('metrics', () => {
  const withApp = async (env: Record<string, string>, work: (app: TestApp) => Promise<void>) => {
    await using database = await createSqlite()
    await using app = await startTestApp(database, env)
    await work(app)
  }
  const status = async (app: TestApp, headers: Record<string, string> = {}) => {
    const response = await fetch(`${app.url}/metrics`, { headers })
    const body = await response.text()
    if (response.status !== 200) assert.equal(JSON.parse(body).code, 'UNAUTHENTICATED')
    return response.status
  }

  it('are for callers on the same machine alone', () =>
    withApp({ TRELLIS_TRUSTED_PROXIES: '127.0.0.1' }, async (app) => {
      assert.equal(await status(app), 200)
      assert.equal(await status(app, { 'x-forwarded-for': '203.0.113.5' }), 401)
      assert.equal(await status(app, { 'x-forwarded-for': '127.0.0.1, 203.0.113.5' }), 401)
      assert.equal(await status(app, { 'x-forwarded-for': '10.0.0.1' }), 401)
      assert.equal(await status(app, { 'x-forwarded-for': 'localhost' }), 401)
      assert.equal(
        await status(app, { 'x-forwarded-for': '203.0.113.5', authorization: `Bearer ${app.ownerKey}` }),
        401,
      )
    }))

  it('are for whoever has the token when there is one', () =>
    withApp(
      { TRELLIS_METRICS_TOKEN: 'metrics-token-0123456789', TRELLIS_TRUSTED_PROXIES: '127.0.0.1' },
      async (app) => {
        const authorization = 'Bearer metrics-token-0123456789'
        assert.equal(await status(app, { authorization }), 200)
        assert.equal(await status(app, { authorization, 'x-forwarded-for': '203.0.113.5' }), 200)
        assert.equal(await status(app), 401)
        assert.equal(await status(app, { authorization: 'Bearer metrics-token-0123456780' }), 401)
        assert.equal(await status(app, { authorization: `${authorization}0` }), 401)
        assert.equal(await status(app, { authorization: `Bearer ${app.ownerKey}` }), 401)
      },
    ))
})

onEachDatabase('a server whose database is gone', (create) => {
  it('is alive but not ready', async () => {
    await using database = await create()
    await using app = await startTestApp(database)
    assert.equal((await fetch(`${app.url}/readyz`)).status, 200)
    if (database.dialect === 'postgres') await database.drop()
    else await app.database.close()
    const ready = await fetch(`${app.url}/readyz`)
    const reason = 'The database does not answer'
    assert.deepEqual([ready.status, await ready.json()], [503, { status: 'unavailable', reason }])
    assert.equal((await fetch(`${app.url}/healthz`)).status, 200)
    const call = await app.call('repos/list', {}, { token: app.ownerKey })
    assert.deepEqual([call.status, call.body.code], [500, 'INTERNAL_SERVER_ERROR'])
  })
})

describe('a server on PostgreSQL', () => {
  it('is ready again when its database comes back', async () => {
    await using database = await createPostgres()
    await using app = await startTestApp(database)
    // Every connection is cut, as when the database is restarted.
    await cutConnections(database)
    let ready = 0
    for (let attempt = 0; attempt < 50 && ready !== 200; attempt++)
      ready = (await fetch(`${app.url}/readyz`)).status
    assert.equal(ready, 200)
    assert.equal((await app.call('repos/create', { name: 'back' }, { token: app.ownerKey })).status, 200)
  })
})
