import type { AttemptRow, RegistrationRow } from './store.ts'

type RegistrationStatus = 'unclaimed' | 'pending_claim' | 'claimed' | 'expired'

/** A claimed agent ends that has not renewed its tokens for so long. */
export const IDLE_MS = 90 * 24 * 60 * 60 * 1000

/** Wrong codes after which a code is burnt. */
const MAX_WRONG_TRIES = 5

export function statusOf(
  registration: RegistrationRow,
  attempt: AttemptRow | undefined,
  now: number,
): RegistrationStatus {
  if (registration.revoked_at !== null) return 'expired'
  if (registration.ends_at !== null && registration.ends_at <= now) return 'expired'
  if (registration.claimed_at !== null) return 'claimed'
  if (registration.claim_expires_at <= now) return 'expired'
  return attempt ? 'pending_claim' : 'unclaimed'
}

/** Whether the code of an attempt can still be typed. */
export const isCodeLive = (attempt: AttemptRow, now: number): boolean =>
  attempt.expires_at > now && attempt.wrong_tries < MAX_WRONG_TRIES

/** Addresses are the same whatever their case and the space around them. */
export const sameAddress = (a: string, b: string): boolean => normalAddress(a) === normalAddress(b)

export const normalAddress = (email: string): string => email.trim().toLowerCase()
