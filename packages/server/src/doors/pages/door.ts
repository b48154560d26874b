import { Fault } from '../../platform/fault.ts'
import { refuseInEnvelope } from '../api/envelope.ts'
import type { DoorFront } from '../http/door.ts'
import type { Exchange } from '../http/exchange.ts'
import { type Failure, failureOf } from '../http/failure.ts'
import { html } from './html.ts'
import { sendPage } from './layout.ts'

/** The door of everything that has a path of its own. A browser is told on a page what went wrong, a program in JSON. */
export const createPagesFront = (baseUrl: string): DoorFront => ({
  serves: () => true,
  refuse(exchange, error) {
    if (wantsPage(exchange)) refuseOnPage(exchange, error)
    else refuseInEnvelope(exchange, error, { baseUrl })
  },
})

const wantsPage = ({ request }: Exchange): boolean => /\btext\/html\b/.test(request.headers.accept ?? '')

function refuseOnPage(exchange: Exchange, error: unknown): void {
  const failure = failureOf(error, exchange.requestId)
  const { status, message, headers } = failure
  sendPage(
    exchange,
    status,
    {
      title: titleOf(failure),
      body: html`<p>${adviceOn(error, message)}</p><p><a href="/">Go to the start</a></p>`,
    },
    headers,
  )
}

function titleOf({ status, message }: Failure): string {
  if (status === 404) return 'There is nothing here'
  if (status === 429) return 'Too many requests'
  if (status === 503) return 'Not now'
  return status >= 500 ? 'Something went wrong' : message
}

function adviceOn(error: unknown, message: string): string {
  if (error instanceof Fault) {
    if (error.code === 'TOO_MANY_REQUESTS') return 'Wait a moment, then try again.'
    if (error.code === 'UNAUTHENTICATED') return 'This is only for those who sign in.'
    const { issues } = error.data as { issues?: { message: string }[] }
    if (issues?.length) return issues.map((issue) => issue.message).join('. ')
  }
  return message === 'There is nothing here'
    ? 'The address may be mistyped, or what was here is gone.'
    : message
}
