import { randomByte } from './randomness.ts'

export type IdPrefix =
  | 'usr'
  | 'ses'
  | 'acc'
  | 'ver'
  | 'tfa'
  | 'psk'
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
  | 'col'
  | 'idx'
  | 'rec'
  | 'run'
  | 'dmn'
  | 'let'

/** Makes ids: a prefix that tells the kind, then a part that sorts by time and cannot be guessed. */
export type NewId = (prefix: IdPrefix) => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

const RANDOM_CHARACTERS = 16

/** 48 bits of milliseconds and 80 random bits, in base 32. */
export const newId: NewId = (prefix) => {
  let time = Date.now()
  let encodedTime = ''
  for (let i = 0; i < 10; i++) {
    encodedTime = ALPHABET.charAt(time % 32) + encodedTime
    time = Math.floor(time / 32)
  }
  let random = ''
  for (let i = 0; i < RANDOM_CHARACTERS; i++) random += ALPHABET.charAt(randomByte() & 31)
  return `${prefix}_${encodedTime}${random}`
}
