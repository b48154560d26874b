import type { Ended } from '../../access/credentials.ts'
import { Fault } from '../../platform/fault.ts'

const kinds: Record<string, string> = {
  trk_: 'API key',
  trt_: 'repository token',
  tra_: 'access token',
}

const ends: Record<Ended, string> = { expired: 'has expired', revoked: 'has been revoked' }

/** Says what is wrong with a credential that was sent: whoever has it may know what became of it. */
export function notAccepted(credential: string | undefined, ended?: Ended): Fault<'UNAUTHENTICATED'> {
  const message = ended
    ? `This ${kinds[(credential ?? '').slice(0, 4)] ?? 'API key'} ${ends[ended]}`
    : wordsOnUnknown(credential)
  return new Fault('UNAUTHENTICATED', {}, { message })
}

function wordsOnUnknown(credential: string | undefined): string {
  if (credential === undefined) return 'This kind of credential is not accepted here'
  if (credential.startsWith('trr_')) return 'A refresh token is for the token endpoint alone'
  return 'This credential is not valid here, or ended long ago'
}
