import {
  addressChangedLetter,
  addressChangeLetter,
  resetLetter,
  verificationLetter,
} from '../mail/letters.ts'
import type { MailService } from '../mail/service.ts'
import type { Clock } from '../platform/clock.ts'
import { ADDRESS_CHANGE_SECONDS } from './address-change.ts'
import { RESET_SECONDS, VERIFICATION_SECONDS } from './auth.ts'

/** What people are sent of their own accounts. */
export const createPost = ({
  mail,
  baseUrl,
  clock,
}: {
  mail: MailService
  baseUrl: string
  clock: Clock
}) => ({
  verification: (to: string, token: string): Promise<void> =>
    mail.sendQuietly(
      'verification',
      verificationLetter({
        to,
        url: `${baseUrl}/confirm-address/${encodeURIComponent(token)}`,
        endsAt: clock() + VERIFICATION_SECONDS * 1000,
      }),
    ),

  reset: (to: string, token: string): Promise<void> =>
    mail.sendQuietly(
      'reset',
      resetLetter({
        to,
        url: `${baseUrl}/reset-password/${encodeURIComponent(token)}`,
        endsAt: clock() + RESET_SECONDS * 1000,
      }),
    ),

  addressChange: (to: string, token: string): Promise<void> =>
    mail.sendQuietly(
      'address change',
      addressChangeLetter({
        to,
        url: `${baseUrl}/new-address/${token}`,
        endsAt: clock() + ADDRESS_CHANGE_SECONDS * 1000,
      }),
    ),

  addressChanged: (to: string): Promise<void> =>
    mail.sendQuietly(
      'address changed',
      addressChangedLetter({ to, endsAt: clock() + ADDRESS_CHANGE_SECONDS * 1000 }),
    ),
})
