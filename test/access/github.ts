// A stand-in for GitHub: the four endpoints of its that signing in uses, as its documentation has them.

import { hash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface GitHubUser {
  id: number
  login: string
  name: string | null
  emails: { email: string; primary: boolean; verified: boolean; visibility: string | null }[]
}

export interface FakeGitHub extends AsyncDisposable {
  url: string
  /** Who is signed in there; undefined refuses. */
  user: GitHubUser | undefined
}

/** Shows a page with a button, as GitHub does when it asks whether to go on. */
export async function startGitHub(client: { id: string; secret: string }): Promise<FakeGitHub> {
  const codes = new Map<string, { challenge: string; redirect: string }>()
  const tokens = new Set<string>()
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://github.example')
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const isKnown = tokens.has(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
    if (pathname === '/login/oauth/authorize') {
      if (searchParams.get('client_id') !== client.id) return json({ message: 'Not Found' }, 404)
      const redirect = searchParams.get('redirect_uri') ?? ''
      const back = new URL(redirect)
      back.searchParams.set('state', searchParams.get('state') ?? '')
      if (fake.user) {
        const code = randomBytes(10).toString('hex')
        codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', redirect })
        back.searchParams.set('code', code)
      } else back.searchParams.set('error', 'access_denied')
      const escaped = back.href.replaceAll('&', '&amp;')
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<!doctype html><title>GitHub</title><a href="${escaped}">Authorize ${searchParams.get('scope')}</a>`,
        )
      return
    }
    if (pathname === '/login/oauth/access_token') {
      const sent = new URLSearchParams(await textOf(request))
      const known = codes.get(sent.get('code') ?? '')
      codes.delete(sent.get('code') ?? '')
      const proof = hash('sha256', sent.get('code_verifier') ?? '', 'base64url')
      const isRight =
        known?.challenge === proof &&
        known.redirect === sent.get('redirect_uri') &&
        sent.get('client_secret') === client.secret
      // GitHub says this with status 200.
      if (!isRight) return json({ error: 'bad_verification_code' })
      const token = `gho_${randomBytes(18).toString('hex')}`
      tokens.add(token)
      return json({ access_token: token, token_type: 'bearer', scope: 'read:user,user:email' })
    }
    if (!isKnown || !fake.user) return json({ message: 'Bad credentials' }, 401)
    const { emails, ...profile } = fake.user
    if (pathname === '/api/v3/user') return json({ ...profile, email: null, avatar_url: '' })
    if (pathname === '/api/v3/user/emails') return json(emails)
    return json({ message: 'Not Found' }, 404)
  })
  await new Promise<void>((ready) => server.listen(0, 'localhost', ready))
  const fake: FakeGitHub = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    user: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
  return fake
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts = await request.toArray()
  return Buffer.concat(parts).toString()
}
