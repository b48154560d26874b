import { DatabaseUnavailable } from '../../platform/outages.ts'
import { StartError } from '../../platform/start-error.ts'
import { fieldOf } from '../dialect.ts'

/** What keeps a start from the database, with what to do about it; undefined for anything else. */
export function inWords(error: unknown, url: string): StartError | undefined {
  const where = placeOf(url)
  const failure = error instanceof DatabaseUnavailable ? error.cause : error
  const why = reasonOf(failure)
  const code = String(fieldOf(failure, 'code') ?? '')
  const told = (words: string) =>
    new StartError(`The database at ${where} ${words} (${why}).`, { cause: error })
  if (code === '53300')
    return told('has no connection left for us: allow more of them there, or lower TRELLIS_DATABASE_POOL')
  if (error instanceof DatabaseUnavailable)
    return told('cannot be reached: look whether PostgreSQL runs there and TRELLIS_DATABASE_URL is right')
  if (/^28/.test(code))
    return told('does not let us in: set the user and the password in TRELLIS_DATABASE_URL right')
  if (code === '3D000') return told('is not there: create it, or set TRELLIS_DATABASE_URL right')
  if (code === '42501') return told('does not let us make tables: grant the user all rights on its schema')
  if (code === '25006')
    return told('may only be read: set TRELLIS_DATABASE_URL to the primary, not to a replica of it')
  if (code === '53100') return told('has no room left on its disk: make some')
  if (/^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS|ERR_SSL|EPROTO)/.test(code) || /\bSSL\b/.test(why))
    return told(
      'could not be spoken to over TLS: look at sslmode in TRELLIS_DATABASE_URL and the certificate',
    )
  return undefined
}

/** A host name with several addresses fails with an error for each, and no words of its own. */
function reasonOf(failure: unknown): string {
  if (failure instanceof AggregateError) return failure.errors.map(reasonOf).join(', ')
  return failure instanceof Error ? failure.message : String(failure)
}

/** Without the user and the password. */
function placeOf(text: string): string {
  const url = URL.parse(text)
  return url ? `${url.host || 'this machine'}${url.pathname}` : 'TRELLIS_DATABASE_URL'
}
