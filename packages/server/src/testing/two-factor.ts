// An authenticator app, as people have one on their phones.

import { createHmac } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const PERIOD_MS = 30_000

function keyIn(uri: string): Buffer {
  const text = new URL(uri).searchParams.get('secret')?.replaceAll('=', '') ?? ''
  const bits = [...text].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}

function codeAt(uri: string, period: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(period))
  const digest = createHmac('sha1', keyIn(uri)).update(counter).digest()
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

/** What the app shows now for an address that begins with `otpauth:`, or some periods later. */
export const codeFor = (uri: string, later = 0): string =>
  codeAt(uri, Math.floor(Date.now() / PERIOD_MS) + later)

/** What it shows neither now nor for minutes before and after. */
export function wrongCodeFor(uri: string): string {
  const now = Math.floor(Date.now() / PERIOD_MS)
  const shown = Array.from({ length: 21 }, (_, i) => codeAt(uri, now - 10 + i))
  for (let n = 0; ; n++) {
    const code = String(n).padStart(6, '0')
    if (!shown.includes(code)) return code
  }
}
