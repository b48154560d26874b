import { createHash } from 'node:crypto'

/** What a hash of a bundle, a descriptor or a schema looks like. */
export type Sha256 = `sha256:${string}`

export const sha256 = (bytes: string | Uint8Array): Sha256 =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Of JSON in its one canonical form, so that neither spaces nor the order of keys matter. */
export const hashOfJson = (value: unknown): Sha256 => sha256(canonicalJson(value))

/** RFC 8785. `value` comes from `JSON.parse`, and is not deeper than `readJson` allows. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  // Sorted by UTF-16 code units, which is what the standard asks for and what JavaScript does.
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
}
