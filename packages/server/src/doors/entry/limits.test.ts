import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { type Answer, asEnvelope, createSqlite, useApp } from '../../testing/index.ts'

const RATE = { TRELLIS_RATE_PER_SECOND: '2', TRELLIS_RATE_BURST: '5' }

function expectLimited(answer: Answer): void {
  const { retryAfterMs } = answer.body.data
  assert.deepEqual(asEnvelope(answer), {
    defined: true,
    code: 'TOO_MANY_REQUESTS',
    status: 429,
    message: 'Too many requests',
    data: { retryAfterMs },
  })
  assert.ok(Number.isInteger(retryAfterMs) && retryAfterMs > 0 && retryAfterMs <= 500, String(retryAfterMs))
  assert.equal(answer.headers.get('retry-after'), '1')
}

/** Asks until it is refused, and counts the answers before. */
async function exhaust(ask: () => Promise<Answer>): Promise<{ answered: number; refused: Answer }> {
  for (let answered = 0; answered < 100; answered++) {
    const refused = await ask()
    if (refused.status === 429) return { answered, refused }
  }
  throw new Error('never refused')
}

let accounts = 0

/** Somebody else each time, with a password. */
const trying =
  (app: { url: string }, route: string, headers: Record<string, string> = {}) =>
  async (): Promise<Answer> => {
    const response = await fetch(`${app.url}/api/auth/${route}/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ email: `p${++accounts}@example.com`, name: 'P', password: 'a password to try' }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

describe('limits of passwords without a trusted proxy', () => {
  const app = useApp(createSqlite)

  it('do not hold for callers on the same machine', async () => {
    for (let n = 0; n < 40; n++) assert.equal((await trying(app, 'sign-in')()).status, 401)
  })

  it('hold for all together who come through a proxy that nobody has named', async () => {
    for (const name of ['x-forwarded-for', 'forwarded', 'via']) {
      let n = 0
      const { answered } = await exhaust(() => trying(app, 'sign-in', { [name]: `for=203.0.113.${++n}` })())
      assert.ok(answered >= 20 && answered < 25, `${name} ${answered}`)
      app.pass(3_600_000)
    }
  })
})

describe('limits of passwords behind a trusted proxy', () => {
  const app = useApp(createSqlite, { TRELLIS_TRUSTED_PROXIES: '127.0.0.1' })

  it('hold for the passwords of all accounts together, given to sign up or in', async () => {
    for (const route of ['sign-in', 'sign-up'])
      for (const forwarded of ['203.0.113.5', '127.0.0.9']) {
        const { answered, refused } = await exhaust(trying(app, route, { 'x-forwarded-for': forwarded }))
        assert.ok(answered >= 20 && answered < 25, `${route} ${forwarded} ${answered}`)
        app.pass(refused.body.data.retryAfterMs)
        assert.notEqual((await trying(app, route, { 'x-forwarded-for': forwarded })()).status, 429)
        assert.equal((await trying(app, route, { 'x-forwarded-for': forwarded })()).status, 429)
        assert.notEqual((await trying(app, route, { 'x-forwarded-for': '203.0.113.6' })()).status, 429)
        app.pass(3_600_000)
      }
  })
})

describe('limits of requests', () => {
  const app = useApp(createSqlite, RATE)
  afterEach(() => app.pass(60_000))

  it('hold for each credential, also on the same machine, and end with time', async () => {
    const token = app.ownerKey
    const list = () => app.call('repos/list', {}, { token })
    const { answered, refused } = await exhaust(list)
    // Time passes while a test runs, so one or two more may get through.
    assert.ok(answered >= 5 && answered < 20, String(answered))
    expectLimited(refused)
    app.pass(refused.body.data.retryAfterMs)
    assert.equal((await list()).status, 200)
  })

  it('are one for all organizations and operations of a credential, and another for another', async () => {
    const token = app.ownerKey
    const { secret } = await app.client(token).keys.create({ name: 'second' })
    app.pass(60_000)
    await exhaust(() => app.call('repos/list', {}, { token }))
    expectLimited(await app.call('keys/list', {}, { token }))
    expectLimited(await app.call('repos/create', '!', { token }))
    assert.equal((await app.call('repos/list', {}, { token: secret })).status, 200)
  })

  it('do not hold for callers without one on the same machine', async () => {
    for (let i = 0; i < 30; i++) {
      assert.equal((await app.call('tokens/validate', { token: 'x' })).status, 200)
      assert.equal((await app.call('repos/list', {})).status, 401)
      assert.equal((await app.call('repos/list', {}, { token: 'garbage' })).status, 401)
    }
  })

  it('are not loosened by a header anybody can write', async () => {
    let n = 0
    const { answered } = await exhaust(() =>
      app.call('repos/list', {}, { token: app.ownerKey, headers: { 'x-forwarded-for': `203.0.113.${++n}` } }),
    )
    assert.ok(answered < 20)
  })
})

describe('limits of requests behind a trusted proxy', () => {
  const app = useApp(createSqlite, { ...RATE, TRELLIS_TRUSTED_PROXIES: '127.0.0.1' })
  afterEach(() => app.pass(3_600_000))

  const asking =
    (
      forwarded: string | (() => string),
      token?: string,
      path = 'tokens/validate',
      input: unknown = { token: 'x' },
    ) =>
    () =>
      app.call(path, input, {
        token,
        headers: { 'x-forwarded-for': typeof forwarded === 'string' ? forwarded : forwarded() },
      })

  it('hold for each address', async () => {
    const { answered, refused } = await exhaust(asking('203.0.113.5'))
    assert.ok(answered >= 5 && answered < 20, String(answered))
    expectLimited(refused)
    assert.equal((await asking('203.0.113.6')()).status, 200)
    app.pass(refused.body.data.retryAfterMs)
    assert.equal((await asking('203.0.113.5')()).status, 200)
  })

  it('hold for whatever a caller writes before the address the proxy saw', async () => {
    let n = 0
    const { answered } = await exhaust(asking(() => `10.0.0.${++n}, 127.0.0.1, 203.0.113.5`))
    assert.ok(answered < 20)
  })

  it('hold for a whole network of IPv6', async () => {
    let n = 0
    const { answered } = await exhaust(asking(() => `2001:db8:1:2::${++n}`))
    assert.ok(answered < 20)
    assert.equal((await asking('2001:db8:1:3::1')()).status, 200)
  })

  it('hold for credentials that are not accepted, for paths that lead nowhere and for other methods', async () => {
    let n = 0
    await exhaust(() => asking('203.0.113.5', `garbage${++n}`, 'repos/list', {})())
    app.pass(60_000)
    await exhaust(asking('203.0.113.5', undefined, 'nothing', {}))
    app.pass(60_000)
    await exhaust(async () => {
      const response = await fetch(`${app.url}/api/v1/repos/list`, {
        headers: { 'x-forwarded-for': '203.0.113.5' },
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    })
  })

  it('hold for signing in', async () => {
    const signIn = (email: string, forwarded: string) => async (): Promise<Answer> => {
      const response = await fetch(`${app.url}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': forwarded },
        body: JSON.stringify({ email, password: 'not the password' }),
      })
      app.pass(1000)
      return { status: response.status, headers: response.headers, body: await response.json() }
    }
    const { answered, refused } = await exhaust(signIn('nobody@example.com', '203.0.113.5'))
    assert.ok(answered >= 10 && answered < 20, String(answered))
    assert.equal(refused.body.code, 'TOO_MANY_REQUESTS')
    assert.ok(Number(refused.headers.get('retry-after')) * 1000 >= refused.body.data.retryAfterMs)
    assert.equal((await signIn('Nobody@Example.com', '203.0.113.5')()).status, 429)
    assert.equal((await signIn('another@example.com', '203.0.113.5')()).status, 401)
    assert.equal((await signIn('nobody@example.com', '203.0.113.6')()).status, 401)
  })

  it('do not hold for an address when the credential is good', async () => {
    await exhaust(asking('203.0.113.5'))
    assert.equal((await asking('203.0.113.5', app.ownerKey, 'repos/list', {})()).status, 200)
  })
})
