import { randomBytes } from 'node:crypto'

export type IdPrefix =
  | 'usr'
  | 'ses'
  | 'acc'
  | 'ver'
  | 'org'
  | 'mem'
  | 'inv'
  | 'key'
  | 'repo'
  | 'art'
  | 'tok'
  | 'atk'
  | 'evt'
  | 'reg'
  | 'cla'
  | 'anon'
  | 'ivt'
  | 'sig'

/** Makes ids: a prefix that tells the kind, then a part that sorts by time and cannot be guessed. */
export type NewId = (prefix: IdPrefix) => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** 48 bits of milliseconds and 80 random bits, in base 32. */
export const newId: NewId = (prefix) => {
  let time = Date.now()
  let encodedTime = ''
  for (let i = 0; i < 10; i++) {
    encodedTime = ALPHABET.charAt(time % 32) + encodedTime
    time = Math.floor(time / 32)
  }
  let random = ''
  for (const byte of randomBytes(16)) random += ALPHABET.charAt(byte & 31)
  return `${prefix}_${encodedTime}${random}`
}
