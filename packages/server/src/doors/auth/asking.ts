import type { Auth } from '../../people/auth.ts'
import type { Exchange } from '../http/exchange.ts'

export type AskAuth = ReturnType<typeof createAskAuth>

/** Calls a route of better-auth for whoever sent a request to one of our pages, in their browser's name. */
export const createAskAuth =
  ({ ask, invitationHeader }: Pick<Auth, 'ask' | 'invitationHeader'>) =>
  (
    { request: { headers }, address }: Exchange,
    route: string,
    body?: object,
    /** What somebody was given who may not sign up otherwise. */
    invitation?: string,
  ): Promise<Response> =>
    ask(
      route,
      {
        address,
        headers: {
          ...(headers.cookie && { cookie: headers.cookie }),
          ...(headers['user-agent'] && { 'user-agent': headers['user-agent'] }),
          ...(invitation && { [invitationHeader]: invitation }),
        },
      },
      body,
    )

/** Why it refused, in its words. */
export async function refusalIn(answer: Response): Promise<{ code: string; message: string }> {
  const said = (await answer.json().catch(() => ({}))) as { code?: string; message?: string }
  return { code: said.code ?? '', message: said.message ?? 'That did not work' }
}
