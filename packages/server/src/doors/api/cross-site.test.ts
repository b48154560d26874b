import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  anonymousCookieIn,
  asEnvelope,
  createSqlite,
  expectEvents,
  sessionCookieOf,
  useApp,
} from '../../testing/index.ts'

describe('a request with a cookie', () => {
  const app = useApp(createSqlite, { TRELLIS_CORS_ORIGINS: 'https://friend.example' })
  let session = ''
  let token = ''

  before(async () => {
    const ada = await app.signUp('ada')
    token = ada.token
    session = await sessionCookieOf(app, ada.email)
  })

  const elsewhere: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: 'https://neighbour.example' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    // It may call, but not in the name of whoever is signed in.
    { origin: 'https://friend.example' },
  ]
  const create = (headers: Record<string, string>, name: string) =>
    app.call('repos/create', { name }, { headers })

  it('is refused from a page of another site, and does nothing', async () => {
    for (const headers of elsewhere)
      await expectEvents(app, [], async () => {
        const answer = await create({ cookie: session, ...headers }, 'stolen')
        assert.deepEqual([answer.status, asEnvelope(answer).code], [403, 'CROSS_SITE_REFUSED'])
      })
  })

  it('is taken from our own pages, and from what is no browser', async () => {
    const here: Record<string, string>[] = [
      { 'sec-fetch-site': 'same-origin', origin: app.url },
      { origin: app.url },
      {},
    ]
    for (const [n, headers] of here.entries())
      assert.equal((await create({ cookie: session, ...headers }, `ours-${n}`)).status, 200)
  })

  it('is taken from anywhere when it has a credential of its own, as if there were no cookie', async () => {
    for (const [n, headers] of elsewhere.entries()) {
      const authorization = `Bearer ${token}`
      const answer = await create({ cookie: session, authorization, ...headers }, `theirs-${n}`)
      assert.equal(answer.status, 200)
    }
  })

  it('is refused as well when the cookie is that of somebody without an account', async () => {
    const made = await app.call('invites/createAnonymous', { name: 'sketch' })
    const cookie = anonymousCookieIn(made)
    const [invite] = (await app.call('invites/listAnonymous', {}, { headers: { cookie } })).body.items
    for (const headers of elsewhere)
      for (const [path, input] of [
        ['invites/createAnonymous', { name: 'sketch' }],
        ['invites/listAnonymous', {}],
        ['invites/revoke', { id: invite.id }],
      ] as const)
        assert.equal((await app.call(path, input, { headers: { cookie, ...headers } })).status, 403, path)
    // What looks at no credential looks at no cookie either.
    for (const headers of elsewhere)
      assert.equal(
        (await app.call('tokens/validate', { token: 'x' }, { headers: { cookie, ...headers } })).status,
        200,
      )
  })

  it('does not make what was made before an account the property of whoever is signed in', async () => {
    const cookie = anonymousCookieIn(await app.call('invites/createAnonymous', { name: 'sketch' }))
    const headers = { cookie: `${session}; ${cookie}`, 'sec-fetch-site': 'cross-site' }
    await expectEvents(app, [], () => app.call('repos/list', {}, { headers }))
  })
})
