import type { BetterAuthPlugin } from 'better-auth'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { lastStepField, refuseUsedCodes } from './used-codes.ts'

/** The page that asks for the code. Doors find it in what `createAuth` gives. */
export const CODE_PATH = '/login/code'

/** What is the second factor, or two by itself. To look at a session may renew it, and no more. */
const ENOUGH = /^\/(two-factor\/verify-[a-z-]+|passkey\/verify-authentication|get-session)$/

type AfterHook = NonNullable<NonNullable<BetterAuthPlugin['hooks']>['after']>[number]

/**
 * Codes of an authenticator app, and codes to write down. By itself better-auth asks for them after a password alone;
 * here it does after whatever made a session for somebody who had none, but for what is named above. A code is good once.
 */
export function secondFactor() {
  const plugin = twoFactor({
    // Somebody who came with a provider has no password to confirm with.
    allowPasswordless: true,
    twoFactorTable: 'two_factors',
    schema: {
      user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
      twoFactor: {
        fields: {
          userId: 'user_id',
          backupCodes: 'backup_codes',
          failedVerificationCount: 'failed_verification_count',
          lockedUntil: 'locked_until',
        },
      },
    },
  })
  const [challenge] = plugin.hooks.after
  if (!challenge) throw new Error('better-auth asks for no second factor any more')
  const asked: AfterHook = {
    matcher: ({ path = '', context: { session, newSession } }) =>
      !ENOUGH.test(path) && session?.user.id !== newSession?.user.id,
    handler: async (input) => {
      const goingTo = locationIn((input as HookContext).context.returned)
      const result = (await challenge.handler(input as never)) as unknown as Challenged
      // A browser that comes back from a provider is on its way, and reads no JSON.
      if (goingTo && result.response)
        result.headers.set('location', `${CODE_PATH}?return_to=${encodeURIComponent(goingTo)}`)
      return result
    },
  }
  const { twoFactor: app } = plugin.schema
  return {
    ...plugin,
    schema: { ...plugin.schema, twoFactor: { ...app, fields: { ...app.fields, lastStep: lastStepField } } },
    hooks: { before: [refuseUsedCodes], after: [asked] },
  }
}

type HookContext = Parameters<AfterHook['matcher']>[0]

/** What the plugin answers in place of the session; nothing where no second factor is asked for. */
interface Challenged {
  headers: Headers
  response: unknown
}

/** Where an answer sends the browser. */
function locationIn(returned: unknown): string | undefined {
  const { headers } = (returned ?? {}) as { headers?: Record<string, string> | Headers }
  return new Headers(headers).get('location') ?? undefined
}
