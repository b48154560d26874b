import { APIError, createAuthEndpoint, sensitiveSessionMiddleware } from 'better-auth/api'
import * as z from 'zod'
import type { Clock } from '../platform/clock.ts'
import type { Sealer } from '../secrets/sealing.ts'

export interface AddressPost {
  /** Asks at the new address whether it is theirs. */
  addressChange(email: string, token: string): Promise<void>
  /** Tells the one before that it is not theirs any more. */
  addressChanged(email: string): Promise<void>
}

interface AddressChangeDeps {
  sealer: Sealer
  clock: Clock
  post: AddressPost
}

/** How long the link to the new address works. */
export const ADDRESS_CHANGE_SECONDS = 86_400

const MAX_LETTERS = 254

/** What the link holds. It is void once the account has another address. */
const Wish = z.object({ userId: z.string(), from: z.string(), to: z.string(), endsAt: z.number() })

/**
 * Gives an account another address. better-auth's own way lets in whoever opens the link; here a link does nothing by
 * itself, since a mistyped address is that of somebody else: whoever confirms it has to be signed in to the account.
 */
export const addressChange = ({ sealer, clock, post }: AddressChangeDeps) => ({
  id: 'address-change',
  endpoints: {
    requestAddress: createAuthEndpoint(
      '/change-address',
      {
        method: 'POST',
        body: z.object({ newEmail: z.email().max(MAX_LETTERS), password: z.string() }),
        use: [sensitiveSessionMiddleware],
        requireHeaders: true,
      },
      async ({ context, body, json }) => {
        const { user } = context.session
        const accounts = await context.internalAdapter.findAccounts(user.id)
        const hash = accounts.find(({ providerId }) => providerId === 'credential')?.password
        const isTheirs = hash && (await context.password.verify({ hash, password: body.password }))
        if (!isTheirs)
          throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD', message: 'Invalid password' })
        const to = body.newEmail.toLowerCase()
        // Nobody is told who has an account.
        if (to !== user.email && !(await context.internalAdapter.findUserByEmail(to))) {
          const endsAt = clock() + ADDRESS_CHANGE_SECONDS * 1000
          const wish: z.infer<typeof Wish> = { userId: user.id, from: user.email, to, endsAt }
          await post.addressChange(to, sealer.seal(JSON.stringify(wish)))
        }
        return json({ status: true })
      },
    ),
    confirmAddress: createAuthEndpoint(
      '/confirm-address',
      {
        method: 'POST',
        body: z.object({ token: z.string() }),
        use: [sensitiveSessionMiddleware],
        requireHeaders: true,
      },
      async ({ context, body, json }) => {
        const { user } = context.session
        const wish = read(sealer, body.token)
        const isGood = wish?.userId === user.id && wish.from === user.email && wish.endsAt > clock()
        if (!isGood || (await context.internalAdapter.findUserByEmail(wish.to)))
          throw new APIError('BAD_REQUEST', { code: 'INVALID_TOKEN', message: 'Invalid token' })
        await context.internalAdapter.updateUser(user.id, { email: wish.to, emailVerified: true })
        await post.addressChanged(wish.from)
        return json({ status: true })
      },
    ),
  },
})

function read(sealer: Sealer, token: string): z.infer<typeof Wish> | undefined {
  try {
    return Wish.parse(JSON.parse(sealer.open(token)))
  } catch {
    return undefined
  }
}
