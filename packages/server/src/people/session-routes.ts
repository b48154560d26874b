import { createAuthEndpoint, sensitiveSessionMiddleware } from 'better-auth/api'
import * as z from 'zod'

/**
 * Two routes of better-auth's, which compare tokens of sessions that were listed. Tokens are kept as hashes, and a
 * listing shows ids in their place.
 */
export const sessionRoutes = {
  id: 'sessions-by-id',
  endpoints: {
    /** Takes what a listing shows, or a token. Either way it must be one of the person's own. */
    revokeSession: createAuthEndpoint(
      '/revoke-session',
      {
        method: 'POST',
        body: z.object({ token: z.string() }),
        use: [sensitiveSessionMiddleware],
        requireHeaders: true,
      },
      async ({ context, body, json }) => {
        const own = { field: 'userId', value: context.session.user.id }
        for (const field of ['id', 'token'])
          await context.adapter.deleteMany({ model: 'session', where: [own, { field, value: body.token }] })
        return json({ status: true })
      },
    ),
    revokeOtherSessions: createAuthEndpoint(
      '/revoke-other-sessions',
      { method: 'POST', use: [sensitiveSessionMiddleware], requireHeaders: true },
      async ({ context, json }) => {
        const { user, session } = context.session
        await context.adapter.deleteMany({
          model: 'session',
          where: [
            { field: 'userId', value: user.id },
            { field: 'id', value: session.id, operator: 'ne' },
          ],
        })
        return json({ status: true })
      },
    ),
  },
}
