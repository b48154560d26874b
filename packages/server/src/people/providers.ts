import type { BetterAuthPlugin } from 'better-auth'
import { type GenericOAuthConfig, genericOAuth } from 'better-auth/plugins/generic-oauth'
import * as z from 'zod'
import type { Config } from '../platform/config.ts'

type Providers = Config['providers']

const TIMEOUT_MS = 10_000

/** What the sign-in page offers. */
interface OfferedProvider {
  id: string
  name: string
}

export const offeredProviders = ({ github, oidc }: Providers): OfferedProvider[] => [
  ...(github ? [{ id: 'github', name: 'GitHub' }] : []),
  ...(oidc ? [{ id: 'oidc', name: oidc.name }] : []),
]

/** Those who vouch for people from elsewhere. */
export function providerPlugins({ github, oidc }: Providers): BetterAuthPlugin[] {
  const config = [...(github ? [gitHub(github)] : []), ...(oidc ? [openId(oidc)] : [])]
  return config.length > 0 ? [genericOAuth({ config })] : []
}

const openId = ({ issuer, name, clientId, clientSecret }: NonNullable<Providers['oidc']>) =>
  ({
    providerId: 'oidc',
    name,
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    requireIdTokenVerification: true,
    clientId,
    clientSecret,
    scopes: ['openid', 'email', 'profile'],
    pkce: true,
  }) satisfies GenericOAuthConfig

const Profile = z.object({
  id: z.number(),
  login: z.string(),
  name: z.string().nullish(),
  avatar_url: z.string().nullish(),
})
const Addresses = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

/** GitHub is no OpenID provider. better-auth knows it too, but not an Enterprise Server of somebody's own. */
function gitHub({ url, clientId, clientSecret }: NonNullable<Providers['github']>) {
  const api = url === 'https://github.com' ? 'https://api.github.com' : `${url}/api/v3`
  /** Undefined when GitHub does not answer as it should: then nobody is signed in. */
  async function read<T>(
    path: string,
    token: string | undefined,
    shape: z.ZodType<T>,
  ): Promise<T | undefined> {
    const accept = { accept: 'application/vnd.github+json', 'user-agent': 'trellis' }
    const headers = { authorization: `Bearer ${token}`, ...accept }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await fetch(`${api}${path}`, { headers, signal, redirect: 'error' }).catch(() => undefined)
    const body: unknown = answer?.ok ? await answer.json().catch(() => undefined) : undefined
    return shape.safeParse(body).data
  }
  return {
    providerId: 'github',
    name: 'GitHub',
    authorizationUrl: `${url}/login/oauth/authorize`,
    tokenUrl: `${url}/login/oauth/access_token`,
    clientId,
    clientSecret,
    scopes: ['read:user', 'user:email'],
    pkce: true,
    async getUserInfo({ accessToken }) {
      const profile = await read('/user', accessToken, Profile)
      const addresses = await read('/user/emails', accessToken, Addresses)
      const address = addresses?.find(({ primary }) => primary) ?? addresses?.[0]
      if (!profile || !address) return null
      return {
        id: profile.id,
        name: profile.name || profile.login,
        email: address.email,
        emailVerified: address.verified,
        ...(profile.avatar_url && { image: profile.avatar_url }),
      }
    },
  } satisfies GenericOAuthConfig
}
