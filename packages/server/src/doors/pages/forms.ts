import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import type { ErrorData } from '@trellis/contract'
import { Fault } from '../../platform/fault.ts'
import type { ServerKey } from '../../secrets/server-key.ts'
import type { Cookie } from '../entry/cookies.ts'
import { comesFromHere } from '../entry/same-origin.ts'
import { readBytes } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { Refusal } from '../http/failure.ts'
import { type Html, html } from './html.ts'

/** What came of something that a form asked for; or, in words for a person, what was wrong with the form. */
export async function problemIn<T>(
  work: () => Promise<T>,
): Promise<{ result: T; problem?: undefined } | { problem: string }> {
  try {
    return { result: await work() }
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'BAD_REQUEST') throw error
    const { issues = [] } = error.data as ErrorData<'BAD_REQUEST'>
    return { problem: issues.map(({ message }) => message).join('. ') || error.message }
  }
}

const FORM_LIMIT = { bytes: 16 * 1024, scope: 'git_workspace_memory' } as const
const FIELD = 'form_token'

export type Forms = ReturnType<typeof createForms>

/**
 * Forms that only our own pages can send: each carries a token made from a cookie that other sites cannot set, and a
 * browser that says where a form comes from must say that it comes from here.
 */
export function createForms({
  serverKey,
  cookie,
  baseUrl,
}: {
  serverKey: ServerKey
  cookie: Cookie
  baseUrl: string
}) {
  const key = serverKey.derive('forms')
  const { origin } = new URL(baseUrl)
  const tokenFor = (nonce: string) => createHmac('sha256', key).update(nonce).digest('base64url')

  return {
    /** The hidden field of a form, and the header that has to go out with the page. */
    protect({ request }: Exchange): { field: Html; headers: OutgoingHttpHeaders } {
      const nonce = cookie.read(request.headers.cookie) ?? randomBytes(24).toString('base64url')
      return {
        field: html`<input type="hidden" name="${FIELD}" value="${tokenFor(nonce)}">`,
        headers: { 'set-cookie': cookie.write(nonce) },
      }
    },

    /** The fields of a form that came from one of our pages. Anything else is refused. */
    async read({ request }: Exchange): Promise<URLSearchParams> {
      const fields = new URLSearchParams((await readBytes(request, FORM_LIMIT)).toString())
      const nonce = cookie.read(request.headers.cookie)
      const given = Buffer.from(fields.get(FIELD) ?? '')
      const wanted = Buffer.from(nonce ? tokenFor(nonce) : '')
      const isOurs =
        comesFromHere(request.headers, origin) &&
        wanted.length > 0 &&
        given.length === wanted.length &&
        timingSafeEqual(given, wanted)
      if (!isOurs) throw new Refusal(403, 'FORM_REFUSED', 'Open the page again and send the form from there')
      return fields
    },
  }
}
