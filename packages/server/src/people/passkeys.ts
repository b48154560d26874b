import { getAuthenticatorName, passkey } from '@better-auth/passkey'
import { APIError, type BetterAuthPlugin } from 'better-auth'
import { createAuthMiddleware } from 'better-auth/api'

const MOST_PASSKEYS = 50
const LONGEST_NAME = 100

/**
 * Passkeys, which let somebody in by themselves: they count as two factors, so the device must have made sure of the
 * person, with a PIN or a finger, each time.
 */
export function passkeys({ baseUrl }: { baseUrl: string }) {
  const { origin, hostname } = new URL(baseUrl)
  const plugin = passkey({
    rpID: hostname,
    origin,
    advanced: { webAuthnChallengeCookie: 'passkey' },
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    registration: {
      afterVerification: async ({ ctx, verification, user }) => {
        const made = verification.registrationInfo
        if (!made?.userVerified) throw unverified()
        const where = [{ field: 'userId', value: user.id }]
        if ((await ctx.context.adapter.count({ model: 'passkey', where })) >= MOST_PASSKEYS)
          throw refused('TOO_MANY_PASSKEYS', `You have ${MOST_PASSKEYS} passkeys: remove one first`)
        return { name: getAuthenticatorName(made.aaguid) ?? 'Passkey' }
      },
    },
    authentication: {
      afterVerification: ({ verification }) => {
        if (!verification.authenticationInfo.userVerified) throw unverified()
      },
    },
    schema: {
      passkey: {
        modelName: 'passkeys',
        fields: {
          publicKey: 'public_key',
          userId: 'user_id',
          credentialID: 'credential_id',
          deviceType: 'device_type',
          backedUp: 'backed_up',
          createdAt: 'created_at',
        },
      },
    },
  })
  return { ...plugin, hooks: { before: [shortNames] } }
}

const shortNames: NonNullable<NonNullable<BetterAuthPlugin['hooks']>['before']>[number] = {
  matcher: ({ path, body }) =>
    path?.startsWith('/passkey/') === true && String(body?.name ?? '').length > LONGEST_NAME,
  handler: createAuthMiddleware(async () => {
    throw refused('NAME_TOO_LONG', `The name of a passkey has up to ${LONGEST_NAME} characters`)
  }),
}

const refused = (code: string, message: string) => new APIError('BAD_REQUEST', { code, message })

const unverified = () =>
  refused(
    'USER_NOT_VERIFIED',
    'The device did not make sure who you are: set up a PIN or a fingerprint there',
  )
