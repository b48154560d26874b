import { createHash } from 'node:crypto'

/** JSON as RFC 8785 writes it: keys in order, no spaces, so that equal values are equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

/** A declared record without what only its migration reads. */
export function publicSchema(declared: object): Record<string, unknown> {
  const { drop: _, ...schema } = declared as Record<string, unknown>
  return schema
}

/** Of a record as it is declared. */
export const schemaHash = (declared: object): string =>
  `sha256:${createHash('sha256')
    .update(canonicalJson(publicSchema(declared)))
    .digest('hex')}`
