import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { createSqlite, startTestApp } from '../testing/index.ts'

describe('an OpenID provider that was away when the server started', () => {
  it('is asked again, but not by everybody', async () => {
    let asked = 0
    let isThere = false
    const provider = createServer((_, response) => {
      asked += 1
      const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].map((name) => [
        name,
        `${issuer}/${name}`,
      ])
      const document = {
        issuer,
        ...Object.fromEntries(endpoints),
        id_token_signing_alg_values_supported: ['RS256'],
      }
      response
        .writeHead(isThere ? 200 : 503, { 'content-type': 'application/json' })
        .end(JSON.stringify(isThere ? document : {}))
    })
    await new Promise<void>((ready) => provider.listen(0, '127.0.0.1', ready))
    const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    await using database = await createSqlite()
    await using app = await startTestApp(database, {
      TRELLIS_OIDC_ISSUER: issuer,
      TRELLIS_OIDC_CLIENT_ID: 'trellis',
      TRELLIS_OIDC_CLIENT_SECRET: 'a secret of both',
    })
    const begin = async () => {
      const response = await fetch(`${app.url}/api/auth/sign-in/social`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: app.url },
        body: JSON.stringify({ provider: 'oidc', callbackURL: '/' }),
      })
      const { url } = (await response.json()) as { url?: string }
      return url ? new URL(url).pathname : response.status
    }
    assert.deepEqual([await begin(), await begin()], [404, 404])
    assert.equal(asked, 1)
    app.pass(10_000)
    assert.equal(await begin(), 404)
    assert.equal(asked, 2)
    isThere = true
    app.pass(10_000)
    assert.equal(await begin(), '/authorization_endpoint')
    app.pass(10_000)
    assert.equal(await begin(), '/authorization_endpoint')
    assert.equal(asked, 3)
    provider.closeAllConnections()
    await new Promise((closed) => provider.close(closed))
  })
})
