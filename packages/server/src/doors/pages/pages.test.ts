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

// biome-ignore lint/suspicious/noExplicitAny: what came back is what a test looks at.
type Json = any

describe('pages', () => {
  const app = useApp(createSqlite, { TRELLIS_ORG_MAX_REPOS: '7' })

  const get = (path: string) => fetch(app.url + path, { redirect: 'manual' })
  const getJson = async (path: string): Promise<Json> => (await get(path)).json()

  it('begin at the reference', async () => {
    const response = await get('/')
    assert.equal(response.status, 302)
    assert.equal(response.headers.get('location'), '/reference')
  })

  it('say that the server is alive and ready', async () => {
    const alive = await get('/healthz')
    assert.deepEqual([alive.status, await alive.json()], [200, { status: 'ok' }])
    const ready = await get('/readyz')
    assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready' }])
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
  })

  it('describe the whole interface for machines', async () => {
    const document = await getJson('/openapi.json')
    assert.match(document.openapi, /^3\.1\.\d+$/)
    assert.equal(document.info.version, '0.7.0')
    assert.deepEqual(document.servers, [{ url: `${app.url}/api/v1` }])
    assert.deepEqual(document.components.securitySchemes.bearer, { type: 'http', scheme: 'bearer' })
    const operations = allOperations()
    assert.deepEqual(Object.keys(document.paths).toSorted(), operations.map(({ path }) => path).toSorted())
    const ids = new Set<string>()
    for (const { path, procedure } of operations) {
      assert.deepEqual(Object.keys(document.paths[path]), ['post'], path)
      const operation = document.paths[path].post
      ids.add(operation.operationId)
      assert.ok(operation.summary, path)
      assert.ok(operation.responses['200'].content['application/json'].schema, path)
      const described = new Map<string, { status: string; message: unknown }>()
      for (const [status, response] of Object.entries<Json>(operation.responses))
        for (const one of response.content['application/json'].schema.oneOf ?? [])
          if (one.properties.code.const)
            described.set(one.properties.code.const, { status, message: one.properties.message.default })
      const declared = Object.keys(procedure['~orpc'].errorMap) as (keyof typeof errors)[]
      assert.deepEqual([...described.keys()].toSorted(), declared.toSorted(), path)
      for (const code of declared) {
        const { status, message } = errors[code]
        assert.deepEqual(described.get(code), { status: String(status), message }, `${path} ${code}`)
      }
    }
    assert.equal(ids.size, operations.length)
  })

  it('describe the 23 operations of the interface with their limits', async () => {
    const { paths } = await getJson('/openapi.json')
    const input = (path: string) => paths[path].post.requestBody.content['application/json'].schema
    const field = (path: string, name: string) => input(path).properties[name]
    const repoName = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[a-z0-9][a-z0-9._-]*$' }
    const extensionName = { ...repoName, pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]*$' }
    const page = (max: number, fallback: number) => ({
      type: 'integer',
      minimum: 1,
      maximum: max,
      default: fallback,
    })

    for (const path of the23) assert.ok(paths[path]?.post, path)
    const named = the23.filter((path) => 'name' in (input(path)?.properties ?? {}))
    assert.equal(named.length, 13)
    for (const path of named) assert.deepEqual(field(path, 'name'), repoName, path)
    assert.deepEqual(field('/runs/dispatch', 'extension'), extensionName)
    assert.deepEqual(field('/webhooks/disable', 'webhook'), extensionName)
    assert.deepEqual(field('/webhooks/secret', 'webhook'), extensionName)
    assert.deepEqual(field('/repos/create', 'defaultBranch'), {
      type: 'string',
      minLength: 1,
      maxLength: 139,
      default: 'main',
    })
    assert.deepEqual(field('/repos/list', 'limit'), page(100, 50))
    assert.deepEqual(field('/git/branches/list', 'limit'), page(100, 50))
    assert.deepEqual(field('/runs/logs', 'limit'), page(250, 100))
    assert.deepEqual(field('/records/list', 'limit'), page(1000, 100))
    assert.deepEqual(field('/invites/createAnonymous', 'grantTtlSeconds'), {
      type: 'integer',
      minimum: 60,
      maximum: 86_400,
      default: 1800,
    })
    assert.equal(field('/invites/createAnonymous', 'expiresIn').default, 604_800)
    assert.deepEqual(field('/invites/createAnonymous', 'maxReveals'), {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
    })
    assert.equal(field('/invites/reveal', 'id').minLength, 16)
    assert.equal(field('/invites/reveal', 'id').maxLength, 128)
    assert.equal(field('/agents/claimComplete', 'userCode').pattern, '^\\d{6}$')
    assert.equal(field('/records/list', 'record').pattern, '^[A-Za-z][A-Za-z0-9_]*$')
    assert.equal(field('/webhooks/redeliver', 'deliveryId').format, 'uuid')
    assert.equal(field('/members/setRole', 'orgSlug').pattern, '^[a-z0-9][a-z0-9-]*$')
    assert.deepEqual(field('/members/setRole', 'role').enum, ['admin', 'member'])
    assert.deepEqual(input('/repos/create').required, ['name'])
    assert.equal(input('/repos/list').required, undefined)
    for (const path of [
      '/tokens/validate',
      '/invites/createAnonymous',
      '/invites/reveal',
      '/invites/listAnonymous',
    ])
      assert.deepEqual(paths[path].post.security, [{}], path)
    assert.equal(paths['/repos/list'].post.security, undefined)
  })

  it('describe it for people, with nothing to load from elsewhere', async () => {
    const response = await get('/reference')
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(
      response.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'self'; frame-ancestors 'none'/,
    )
    const page = await response.text()
    const urls = [...page.matchAll(/\b(?:https?:)?\/\/[^\s"'<>]+/g)].map(([url]) => url)
    for (const url of urls) assert.ok(url.startsWith(`${app.url}/`), url)
    for (const [, target = ''] of page.matchAll(/\b(?:href|src|action)="([^"]*)"/g))
      assert.match(target, /^[#/](?!\/)/)
    assert.ok(!/<script|<iframe|<img|\bon\w+=|@import|url\(/i.test(page))
    for (const { path } of allOperations()) {
      assert.ok(page.includes(`href="#${path.slice(1)}"`), path)
      assert.ok(page.includes(`id="${path.slice(1)}"`), path)
    }
    for (const code of Object.keys(errors).filter((code) => !unused.has(code)))
      assert.ok(page.includes(code), code)
    const css = await get('/reference.css')
    assert.match(css.headers.get('content-type') ?? '', /^text\/css/)
    assert.ok(!/@import|url\(/i.test(await css.text()))
  })
})

/** Codes of operations that no contract has yet. */
const unused = new Set(
  Object.keys(errors).filter(
    (code) => !allOperations().some(({ procedure }) => code in procedure['~orpc'].errorMap),
  ),
)

const the23 = [
  '/agents/claimView',
  '/agents/claimComplete',
  '/agents/revoke',
  '/tokens/list',
  '/tokens/validate',
  '/keys/list',
  '/repos/list',
  '/repos/create',
  '/git/branches/list',
  '/git/tags/create',
  '/records/list',
  '/extensions/list',
  '/extensions/promote',
  '/daemons/list',
  '/runs/dispatch',
  '/runs/logs',
  '/members/setRole',
  '/invites/createAnonymous',
  '/invites/reveal',
  '/invites/listAnonymous',
  '/webhooks/redeliver',
  '/webhooks/disable',
  '/webhooks/secret',
]

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
    assert.deepEqual([ready.status, await ready.json()], [503, { status: 'unavailable' }])
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
