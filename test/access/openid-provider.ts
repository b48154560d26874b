// An OpenID provider of somebody else, with one page: who are you?

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

interface Client {
  id: string
  secret: string
}

export interface OpenIdProvider extends AsyncDisposable {
  issuer: string
  /** From now on it knows a client, which it sends people back to. */
  register(redirectUri: string): void
}

/** Whoever types an address is taken for its owner; it is a verified one unless it begins with `unverified`. */
export async function startOpenIdProvider(client: Client): Promise<OpenIdProvider> {
  let provider: Provider
  const server = createServer(async (request, response) => {
    try {
      if (request.url?.startsWith('/interaction/')) await ask(provider, request, response)
      else await provider.callback()(request, response)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((ready) => server.listen(0, 'localhost', ready))
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  provider = create(issuer, [])
  return {
    issuer,
    register(redirectUri) {
      const { id, secret } = client
      provider = create(issuer, [
        {
          client_id: id,
          client_secret: secret,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ])
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

const create = (issuer: string, clients: object[]): Provider =>
  new Provider(issuer, {
    clients,
    cookies: { keys: ['of this test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_: unknown, address: string) => ({
      accountId: address,
      claims: () => ({
        sub: address,
        email: address,
        email_verified: !address.startsWith('unverified'),
        name: 'Somebody from elsewhere',
      }),
    }),
    // Everything that is asked for is allowed.
    async loadExistingGrant({
      oidc,
    }: {
      oidc: { provider: Provider; client: { clientId: string }; session: { accountId: string } }
    }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  } as object)

/** Asks on the first visit, and believes what is sent on the second. */
async function ask(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') {
    const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
    const login = { accountId: body.get('address') ?? '' }
    await provider.interactionFinished(
      request,
      response,
      body.has('refuse') ? { error: 'access_denied' } : { login },
    )
    return
  }
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Elsewhere</title>
<h1>Who are you?</h1><form method="post"><label>Address <input name="address"></label>
<button>Go on</button> <button name="refuse" value="1">Refuse</button></form>`)
}
