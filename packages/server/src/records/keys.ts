import { createHash } from 'node:crypto'
import type { Scalar } from './fields.ts'

/*
 * Keys of index entries: text that has the order of the values it stands for, by code point, which is how both databases
 * compare it. A value begins with whether it is there; text ends with what comes before every character, so that what
 * follows it in a key of several fields counts only between equals.
 */

const NULL = '0'
const VALUE = '1'
const END = '\u0001'
const ESCAPE = '\u0002'

/** Of longer text only so much is ordered; the rest is told apart by its hash. PostgreSQL refuses long keys. */
const ORDERED_CHARACTERS = 100

/** The key of values of an index, in the order of its fields. */
export const keyOf = (values: readonly (Scalar | null)[]): string => values.map(encode).join('')

/** Keys from `from` up to but without `to` hold all rows with a value that may meet a condition, and maybe others. */
export interface KeyRange {
  from: string
  to: string
}

/** After it comes what marks a value, or that there is none. */
const AFTER_FIELDS = '2'
/** Above all that may follow in a text. */
const ABOVE_TEXT = '\u{10ffff}'.repeat(ORDERED_CHARACTERS + 1)

/** After equal values of the first fields of an index, anything. */
export const rangeAfter = (prefix: string): KeyRange => ({ from: prefix, to: prefix + AFTER_FIELDS })

/** After equal values of the first fields of an index, what stands before or after a value, or begins with a text. */
export function rangeOf(prefix: string, operator: 'below' | 'above' | 'startsWith', value: Scalar): KeyRange {
  const isText = typeof value === 'string'
  const edge = prefix + VALUE + (isText ? shortened(value) : encodeValue(value))
  if (operator === 'below') return { from: prefix + VALUE, to: edge + (isText ? ESCAPE : AFTER_FIELDS) }
  if (operator === 'above') return { from: edge, to: prefix + AFTER_FIELDS }
  return { from: edge, to: edge + ABOVE_TEXT }
}

const encode = (value: Scalar | null): string => (value === null ? NULL : VALUE + encodeValue(value))

function encodeValue(value: Scalar): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'number') return encodeNumber(value)
  const short = shortened(value)
  if (short.length >= value.length && short === escaped(value)) return short + END
  return short + END + createHash('sha256').update(value).digest('base64url').slice(0, 22)
}

/** Escaped after it was cut, so that a cut never goes through the middle of anything. */
function shortened(text: string): string {
  if (text.length <= ORDERED_CHARACTERS) return escaped(text)
  let cut = ''
  let count = 0
  for (const character of text) {
    if (count++ === ORDERED_CHARACTERS) break
    cut += character
  }
  return escaped(cut)
}

/** No NUL, which PostgreSQL does not keep, and nothing that could be taken for the end. */
function escaped(text: string): string {
  let isPlain = true
  for (let i = 0; i < text.length && isPlain; i++) isPlain = text.charCodeAt(i) > 2
  if (isPlain) return text
  let result = ''
  for (const character of text) {
    const code = character.charCodeAt(0)
    result += code <= 2 ? ESCAPE + String.fromCharCode(code + 1) : character
  }
  return result
}

const view = new DataView(new ArrayBuffer(8))

/** The bits of a number order it, once those of negative ones are turned round. */
function encodeNumber(value: number): string {
  // There are two zeros, and they are equal.
  view.setFloat64(0, value === 0 ? 0 : value)
  const bits = view.getBigUint64(0)
  const ordered = bits >> 63n ? ~bits & 0xffff_ffff_ffff_ffffn : bits | (1n << 63n)
  return ordered.toString(16).padStart(16, '0')
}
