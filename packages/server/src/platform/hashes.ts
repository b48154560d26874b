import { createHash } from 'node:crypto'

/** What a hash of a bundle, a descriptor or a schema looks like. */
export type Sha256 = `sha256:${string}`

export const sha256 = (bytes: string | Uint8Array): Sha256 =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Of JSON in its one canonical form, so that neither spaces nor the order of keys matter. */
export const hashOfJson = (value: unknown): Sha256 => sha256(canonicalJson(value))

/** RFC 8785. `value` comes from JSON, bounded in depth by whoever read it; what is undefined is not there. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    // By UTF-16 code units, which is what the standard asks for and what JavaScript does.
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}
