import { readFile } from 'node:fs/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { StartError } from './start-error.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Has everything in this process believe the authorities of a file, beside those that Node and the machine know. Throws
 * StartError.
 */
export async function trustAuthorities(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new StartError(`TRELLIS_CA_FILE cannot be read: name a file that can (${cause.message}).`, {
      cause,
    })
  })
  const given = text.match(CERTIFICATE) ?? []
  try {
    if (given.length === 0) throw new Error('there is none')
    setDefaultCACertificates([...getCACertificates('default'), ...getCACertificates('system'), ...given])
  } catch (cause) {
    throw new StartError(
      `TRELLIS_CA_FILE is to hold certificates in PEM, and ${file} has none that can be read.`,
      { cause },
    )
  }
}

/** All that are believed, in PEM: a program that is given a file believes no others. */
export const allAuthorities = (): string =>
  getCACertificates('default')
    .map((certificate) => certificate.trim())
    .join('\n')
