import { type ErrorData, errors } from '@trellis/contract'
import type { Fault } from './fault.ts'

/** What a person at a terminal can act on: git shows them one line, and nothing else. */
export function inTerminalWords({ code, message, data }: Fault): string {
  if (code === 'UNAUTHENTICATED' && message === errors.UNAUTHENTICATED.message)
    return 'Sign in: any user name, and an API key, repository token or session as the password'
  const { reason } = data as ErrorData<'FORBIDDEN'>
  if (reason === 'write_frozen') return 'This repository is read-only, or its organization is frozen'
  // Where nothing better is said, the reason is at least something to look up.
  if (reason && message === errors.FORBIDDEN.message) return `${message} (${reason})`
  const { issues } = data as ErrorData<'BAD_REQUEST'>
  return issues?.[0]?.message ?? message
}

/** The same as git shows it behind the name of a ref. */
export function inPushReport(fault: Fault): string {
  const words = inTerminalWords(fault)
  return words.charAt(0).toLowerCase() + words.slice(1)
}
