import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { mintSecret, secretKind } from '../../secrets/minting.ts'
import { onEachDatabase, sendRaw, startTestApp } from '../../testing/index.ts'

onEachDatabase('the log of a server', (create) => {
  it('has none of the secrets that went through it, not even when something breaks', async () => {
    await using database = await create()
    const ownerKey = 'an-owner-key-of-no-special-form'
    await using app = await startTestApp(database, {
      TRELLIS_OWNER_KEY: ownerKey,
      TRELLIS_OWNER_PASSWORD: 'owner-password-1',
    })
    const secrets: string[] = [ownerKey, 'owner-password-1']
    const trellis = app.client(ownerKey)
    await trellis.repos.create({ name: 'hello' })
    const key = await trellis.keys.create({ name: 'another' })
    const token = await trellis.tokens.create({ name: 'hello' })
    const unknown = mintSecret('trk')
    secrets.push(key.secret, token.secret, unknown)
    for (const bearer of [key.secret, token.secret, unknown, 'garbage-bearer']) {
      await app.call('repos/list', {}, { token: bearer })
      await app.call('tokens/validate', { token: bearer })
      // What has the looks of a secret is hidden even where none belongs.
      if (secretKind(bearer)) await app.call(bearer, {}, { token: bearer })
      await app.call(`repos/list?access_token=${bearer}`, {}, {})
    }
    secrets.push('garbage-bearer')

    const { url } = await trellis.invites.create({ name: 'hello' })
    const secretOfInvite = url.slice(url.lastIndexOf('/') + 1)
    secrets.push(secretOfInvite)
    for (const mistyped of ['invites', 'invite', 'invites/x', 'Invites', 'i'])
      await fetch(`${app.url}/${mistyped}/${secretOfInvite}`)

    const signIn = (path: string, body: object) =>
      fetch(`${app.url}/api/auth/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const password = 'a-password-to-keep'
    const signUp = await signIn('sign-up/email', { email: 'ana@example.com', name: 'Ana', password })
    assert.equal(signUp.status, 200)
    const session = ((await signUp.json()) as { token: string }).token
    const cookie = signUp.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    assert.match(cookie, /^trellis\.session_token=/)
    secrets.push(password, session, cookie.split('=')[1] ?? cookie)
    await signIn('sign-in/email', { email: 'ana@example.com', password: 'a-wrong-password' })
    await signIn('sign-in/email', { email: 'owner@trellis.local', password: 'owner-password-1' })
    secrets.push('a-wrong-password')
    assert.equal((await app.call('repos/list', {}, { headers: { cookie } })).status, 200)
    assert.equal((await app.call('repos/list', {}, { token: session })).status, 200)
    await sendRaw(
      app.url,
      `GET /${session} HTTP/1.1\r\nAuthorization: Bearer ${key.secret}\r\nnot http\r\n\r\n`,
    )

    // With the tables away every one of these fails in the middle.
    for (const table of ['api_keys', 'repo_tokens', 'sessions'])
      await sql.raw(`alter table ${table} rename to ${table}_gone`).execute(app.database.db)
    for (const bearer of [ownerKey, key.secret, token.secret, session])
      await app.call('tokens/validate', { token: bearer }, { token: bearer })
    await app.call('repos/list', {}, { headers: { cookie } })
    const broken = await signIn('sign-in/email', { email: 'ana@example.com', password })
    assert.equal(broken.status, 500)
    assert.equal(((await broken.json()) as { code: string }).code, 'INTERNAL_SERVER_ERROR')
    await app.stop()
    const log = app.logged()
    assert.match(log, /"level":"error"/)
    assert.ok(log.split('\n').length > 30)
    for (const line of log.trim().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line)
    for (const secret of secrets) assert.ok(!log.includes(secret), `${secret} is in the log`)
  })
})
