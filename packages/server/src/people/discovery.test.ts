import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { createSqlite, startTestApp, type TestApp } from '../testing/index.ts'

/** A provider that answers as it is told to, and counts how often it was asked where its endpoints are. */
async function startProvider(answer: (response: ServerResponse, document: string) => unknown) {
  const state = { asked: 0 }
  const server = createServer((_, response) => {
    state.asked += 1
    const names = ['authorization_endpoint', 'token_endpoint', 'jwks_uri']
    const endpoints = Object.fromEntries(names.map((name) => [name, `${issuer}/${name}`]))
    response.setHeader('content-type', 'application/json')
    answer(
      response,
      JSON.stringify({ issuer, ...endpoints, id_token_signing_alg_values_supported: ['RS256'] }),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    state,
    env: {
      TRELLIS_OIDC_ISSUER: issuer,
      TRELLIS_OIDC_CLIENT_ID: 'trellis',
      TRELLIS_OIDC_CLIENT_SECRET: 'a secret of both',
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** Where somebody is sent who wants to sign in with it, or why not. */
async function begin(app: TestApp): Promise<string | number> {
  const response = await fetch(`${app.url}/api/auth/sign-in/social`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: app.url },
    body: JSON.stringify({ provider: 'oidc', callbackURL: '/' }),
  })
  const { url } = (await response.json()) as { url?: string }
  return url ? new URL(url).pathname : response.status
}

describe('an OpenID provider', () => {
  it('that was away when the server started is asked again, but not by everybody', async () => {
    let isThere = false
    await using provider = await startProvider((response, document) =>
      response.writeHead(isThere ? 200 : 503).end(isThere ? document : '{}'),
    )
    const { state } = provider
    await using database = await createSqlite()
    await using app = await startTestApp(database, provider.env)
    assert.deepEqual([await begin(app), await begin(app)], [404, 404])
    assert.equal(state.asked, 1)
    app.pass(10_000)
    assert.equal(await begin(app), 404)
    assert.equal(state.asked, 2)
    isThere = true
    app.pass(10_000)
    assert.equal(await begin(app), '/authorization_endpoint')
    app.pass(10_000)
    assert.equal(await begin(app), '/authorization_endpoint')
    assert.equal(state.asked, 3)
  })

  it('that does not answer keeps nobody waiting but those who want to sign in with it', async () => {
    const gate = Promise.withResolvers<void>()
    await using provider = await startProvider((response, document) =>
      gate.promise.then(() => response.end(document)),
    )
    await using database = await createSqlite()
    await using app = await startTestApp(database, provider.env)
    const { token } = await app.signUp('ana')
    const session = await fetch(`${app.url}/api/auth/get-session`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(session.status, 200)
    const sent = begin(app)
    gate.resolve()
    assert.equal(await sent, '/authorization_endpoint')
    assert.equal(provider.state.asked, 1)
  })
})
