import { isIP } from 'node:net'
import { connect } from 'node:tls'

const UNTRUSTED = 'the certificate is signed by an authority that is not trusted here'
const problems: Record<string, string> = {
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
}

/** What is wrong with the certificate of the other side, in words for whoever looks after that. */
export function certificateProblem(error: unknown): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? problems[code] : undefined
}

const LOOK_MS = 5_000

/** Looks what is wrong with the certificate at an address; undefined when nothing is, or nobody answers. */
export function inspectCertificate({ hostname, port }: URL, address: string): Promise<string | undefined> {
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0
  return new Promise((found) => {
    const socket = connect({
      host: address,
      port: Number(port || 443),
      // Without a name it is the address that has to be in the certificate.
      ...(isName && { servername: hostname }),
    })
    const end = (problem?: string) => {
      clearTimeout(timer)
      socket.destroy()
      found(problem)
    }
    const timer = setTimeout(end, LOOK_MS)
    socket.once('secureConnect', () => end())
    socket.on('error', (error) => end(certificateProblem(error)))
  })
}
