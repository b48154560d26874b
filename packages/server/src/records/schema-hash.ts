import { hashOfJson } from '../platform/hashes.ts'

/** A declared record without what only its migration reads. */
export function publicSchema(declared: object): Record<string, unknown> {
  const { drop: _, ...schema } = declared as Record<string, unknown>
  return schema
}

/** Of a record as it is declared. */
export const schemaHash = (declared: object): string => hashOfJson(publicSchema(declared))
