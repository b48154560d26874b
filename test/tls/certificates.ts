// Certificates as authorities make them, for as long as a test runs: X.509 in DER, with keys on the curve P-256.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Certificate {
  /** In PEM. */
  cert: string
  key: string
}

export interface Authority {
  /** In PEM. */
  cert: string
  /** Signs a certificate for a host name, as of a day ago and until `endsInDays`. */
  issue(name: string, endsInDays?: number): Certificate
}

const DAY_MS = 86_400_000

export function createAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certify = (subject: string, key: KeyObject, days: number, extensions: Buffer[]) =>
    pem(certificate({ issuer: name, subject, key, days, extensions }, privateKey))
  return {
    cert: certify(name, publicKey, 1, [
      extension(OIDS.basicConstraints, sequence(TRUE), 'critical'),
      extension(OIDS.keyUsage, der(0x03, Buffer.of(2, 0b100)), 'critical'),
    ]),
    issue(host, endsInDays = 1) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const names = sequence(der(0x82, Buffer.from(host)))
      const cert = certify(host, own.publicKey, endsInDays, [extension(OIDS.subjectAltName, names)])
      return { cert, key: exported(own.privateKey) }
    },
  }
}

const exported = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()

interface Certified {
  issuer: string
  subject: string
  key: KeyObject
  days: number
  extensions: Buffer[]
}

function certificate({ issuer, subject, key, days, extensions }: Certified, signer: KeyObject): Buffer {
  const now = Date.now()
  const algorithm = sequence(OIDS.ecdsaWithSha256)
  const content = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    algorithm,
    named(issuer),
    // What has ended began before.
    sequence(time(now + Math.min(days - 1, -1) * DAY_MS), time(now + days * DAY_MS)),
    named(subject),
    key.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', content, signer)
  return sequence(content, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])))
}

/** What it is, how long, and what is in it. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const bytes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...bytes), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts))
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const TRUE = der(0x01, Buffer.of(0xff))
const OIDS = {
  ecdsaWithSha256: oid('2a8648ce3d040302'),
  commonName: oid('550403'),
  keyUsage: oid('551d0f'),
  subjectAltName: oid('551d11'),
  basicConstraints: oid('551d13'),
}

const named = (name: string) => sequence(der(0x31, sequence(OIDS.commonName, der(0x0c, Buffer.from(name)))))
const extension = (id: Buffer, content: Buffer, weight?: 'critical') =>
  sequence(id, ...(weight ? [TRUE] : []), der(0x04, content))
const time = (at: number) =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`))
const pem = (bytes: Buffer) => {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
