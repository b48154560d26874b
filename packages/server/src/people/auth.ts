import { kyselyAdapter } from '@better-auth/kysely-adapter'
import { APIError, type BetterAuthOptions, betterAuth } from 'better-auth'
import { createEmailVerificationToken } from 'better-auth/api'
import { bearer } from 'better-auth/plugins/bearer'
import { unhidden } from '../db/refusals.ts'
import type { Clock, Stopwatch } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { IdPrefix, NewId } from '../platform/ids.ts'
import type { Database } from '../schema.ts'
import type { Sealer } from '../secrets/sealing.ts'
import { type AddressPost, addressChange } from './address-change.ts'
import { createDiscovering } from './discovery.ts'
import { PASSWORD_LENGTH } from './entry-links.ts'
import { hashSessionTokens } from './hashed-sessions.ts'
import { beginLate } from './late-transactions.ts'
import { passkeys } from './passkeys.ts'
import type { Passwords } from './passwords.ts'
import { offeredProviders, providerPlugins } from './providers.ts'
import { CODE_PATH, secondFactor } from './second-factor.ts'
import { sessionRoutes } from './session-routes.ts'
import { COOKIE_PREFIX, createSessionTokens, RENEWAL_SECONDS, SESSION_SECONDS } from './session-tokens.ts'
import { spendCode } from './used-codes.ts'

interface AuthDeps {
  database: Database
  newId: NewId
  baseUrl: string
  secret: string
  passwords: Passwords
  signUp: Config['signUp']
  providers: Config['providers']
  trustedOrigins: string[]
  stopwatch: Stopwatch
  /** Whether an invitation lets this person sign up. */
  isInvited(user: { email: string; emailVerified: boolean }, invitation?: string): Promise<boolean>
  /** Gives a new person their organization. */
  welcome(user: { id: string; name: string; email: string }): Promise<void>
  /** Somebody has set a new password with a link that was sent to their address. */
  recovered(user: { id: string; emailVerified: boolean }): Promise<void>
  /** What people are sent; undefined where no mail can be. */
  post: Post | undefined
  /** Of what only the server reads in a link. */
  sealer: Sealer
  clock: Clock
}

/** Tells a person something by mail, sooner or later. */
interface Post extends AddressPost {
  verification(email: string, token: string): Promise<void>
  reset(email: string, token: string): Promise<void>
}

export type Auth = ReturnType<typeof createAuth>

const MAX_NAME_LENGTH = 200
const MAX_IMAGE_LENGTH = 2048

/** Others are shown it, in every list they are in. */
function requireBounded({ name, image }: { name?: unknown; image?: unknown }): void {
  if (typeof name === 'string' && name.length > MAX_NAME_LENGTH)
    throw new APIError('BAD_REQUEST', {
      code: 'NAME_TOO_LONG',
      message: `A name has up to ${MAX_NAME_LENGTH} characters`,
    })
  if (typeof image === 'string' && (image.length > MAX_IMAGE_LENGTH || !/^https?:/.test(image)))
    throw new APIError('BAD_REQUEST', {
      code: 'INVALID_IMAGE',
      message: `An image is an http or https address of up to ${MAX_IMAGE_LENGTH} characters`,
    })
}

/** How long a link that confirms an address works, and one that sets a new password. */
export const VERIFICATION_SECONDS = 86_400
export const RESET_SECONDS = 3_600

/** The header by which somebody whose address is not verified names the invitation they sign up with. */
const INVITATION_HEADER = 'trellis-invitation'

/** The routes that know of providers. */
const WITH_PROVIDER = /\/api\/auth\/(sign-in\/social|link-social|callback\/)/

const idPrefixes: Record<string, IdPrefix> = {
  user: 'usr',
  session: 'ses',
  account: 'acc',
  verification: 'ver',
  twoFactor: 'tfa',
  passkey: 'psk',
}

const sentBy =
  (send: (email: string, token: string) => Promise<void>) =>
  ({ user, token }: { user: { email: string }; token: string }) =>
    send(user.email, token)

/** The header in which better-auth is told where a person is, whatever came with it from outside. */
const ADDRESS_HEADER = 'trellis-client-address'

/** Sign-up, sign-in and sessions, under `/api/auth`. A session works as a cookie and as a bearer token. */
export function createAuth({ database, newId, signUp, providers, post, ...deps }: AuthDeps) {
  const { hostname, origin } = new URL(deps.baseUrl)
  const pluginsFor = (some: Config['providers']) => [
    bearer(),
    sessionRoutes,
    secondFactor(),
    passkeys(deps),
    ...(post ? [addressChange({ ...deps, post })] : []),
    ...providerPlugins(some),
  ]
  const options = {
    // What authenticator apps and passkeys are told they are for.
    appName: `Trellis at ${hostname}`,
    baseURL: deps.baseUrl,
    basePath: '/api/auth',
    secret: deps.secret,
    trustedOrigins: deps.trustedOrigins,
    telemetry: { enabled: false },
    // The server in front of this limits callers itself.
    rateLimit: { enabled: false },
    // What it did not foresee comes to our door, which logs it; by itself it would print it as it is.
    // Who comes back from a provider without a word of where they began is told on our page.
    onAPIError: { throw: true, errorURL: `${deps.baseUrl}/login` },
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: {
        generateId: ({ model }) => newId(idPrefixes[model] ?? 'ver'),
      },
    },
    logger: { disabled: true },
    database: (options: BetterAuthOptions) =>
      hashSessionTokens(
        beginLate(kyselyAdapter(database.db, { type: database.dialect, transaction: true })(options)),
      ),
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
      password: deps.passwords,
      resetPasswordTokenExpiresIn: RESET_SECONDS,
      revokeSessionsOnPasswordReset: true,
      onPasswordReset: ({ user }) => deps.recovered(user),
      ...(post && { sendResetPassword: sentBy(post.reset) }),
    },
    ...(post && {
      emailVerification: {
        expiresIn: VERIFICATION_SECONDS,
        // At sign-up it would be called in the midst of a transaction: see `databaseHooks`.
        sendOnSignUp: false,
        sendVerificationEmail: sentBy(post.verification),
      },
    }),
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
      additionalFields: {
        disabledAt: {
          type: 'number',
          required: false,
          input: false,
          returned: false,
          fieldName: 'disabled_at',
        },
      },
    },
    session: {
      modelName: 'sessions',
      expiresIn: SESSION_SECONDS,
      updateAge: RENEWAL_SECONDS,
      fields: {
        token: 'token_hash',
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    account: {
      modelName: 'accounts',
      encryptOAuthTokens: true,
      fields: {
        accountId: 'account_id',
        providerId: 'provider_id',
        userId: 'user_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    verification: {
      modelName: 'verifications',
      // What a copied database must not give away.
      storeIdentifier: { default: 'plain', overrides: { 'reset-password': 'hashed' } },
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    databaseHooks: {
      session: {
        create: {
          // However they come: every way to sign in ends in a session. Asked over the connection of the transaction,
          // if there is one: those who sign up at once would wait for each other's.
          before: async ({ userId }, context) => {
            const user = await context?.context.internalAdapter.findUserById(userId)
            if (user && (user as { disabledAt?: number | null }).disabledAt != null)
              throw new APIError('FORBIDDEN', {
                code: 'ACCOUNT_DISABLED',
                message: 'The operator of this server has disabled this account',
              })
            if (context) await spendCode(context, userId)
          },
        },
      },
      user: {
        create: {
          // Here and not at the sign-up route, so that the policy also holds for people a provider sends.
          before: async (user, context) => {
            requireBounded(user)
            if (signUp === 'open') return
            const invitation = context?.headers?.get(INVITATION_HEADER) ?? undefined
            if (signUp === 'invited' && (await deps.isInvited(user, invitation))) return
            throw new APIError('FORBIDDEN', {
              code: 'SIGN_UP_CLOSED',
              message:
                signUp === 'closed'
                  ? 'Sign-up is closed on this server'
                  : `Sign-up needs an invitation for this address, named in the ${INVITATION_HEADER} header`,
            })
          },
          after: async (user) => {
            await deps.welcome(user)
            if (post && !user.emailVerified)
              await post.verification(
                user.email,
                await createEmailVerificationToken(deps.secret, user.email, undefined, VERIFICATION_SECONDS),
              )
          },
        },
        update: { before: async (changes) => requireBounded(changes) },
      },
    },
    plugins: pluginsFor(providers),
  } satisfies BetterAuthOptions
  const withoutOpenId = { ...options, plugins: pluginsFor({ ...providers, oidc: undefined }) }
  const discovering = createDiscovering(({ isAsked }) => betterAuth(isAsked ? options : withoutOpenId), {
    wanted: providers.oidc ? ['oidc'] : [],
    stopwatch: deps.stopwatch,
  })
  const secure = deps.baseUrl.startsWith('https://')
  // It takes a database that cannot be asked for an account that could not be made, or a session that is not there.
  const handler = async (request: Request, address: string): Promise<Response> => {
    request.headers.set(ADDRESS_HEADER, address)
    const auth = WITH_PROVIDER.test(request.url) ? await discovering.whole() : discovering.now()
    return unhidden(() => auth.handler(request))
  }
  const api = () => discovering.now().api
  return {
    tokens: createSessionTokens({ secret: deps.secret, secure }),
    /** The page that asks for the second factor. */
    codePath: CODE_PATH,
    /** Names what somebody was given who may not sign up otherwise. */
    invitationHeader: INVITATION_HEADER,
    providers: offeredProviders(providers),
    handler,
    /** Renews it when that is due, and removes what has expired. */
    getSession: (headers: Headers) => unhidden(() => api().getSession({ headers })),
    /** Whoever the address belongs to, if anybody, is sent a link. */
    requestReset: (email: string) =>
      unhidden(() => api().requestPasswordReset({ body: { email }, asResponse: true })),
    resetPassword: (body: { token: string; newPassword: string }) =>
      unhidden(() => api().resetPassword({ body, asResponse: true })),
    /** Calls one of its routes for somebody who is on a page of ours; with a body it is a POST. */
    ask(
      route: string,
      { address, headers }: { address: string; headers: Record<string, string> },
      body?: object,
    ): Promise<Response> {
      const request = new Request(`${deps.baseUrl}/api/auth/${route}`, {
        headers: { ...headers, origin, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
      return handler(request, address)
    },
  }
}
