import type * as z from 'zod'
import { Fault } from '../../platform/fault.ts'
import { shapeWords } from '../../platform/shape-words.ts'

/** What is asked for beside the operations. Throws BAD_REQUEST. */
export function parseAsked<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { error: shapeWords })
  if (result.success) return result.data
  throw new Fault('BAD_REQUEST', {
    issues: result.error.issues.map(({ path, message }) => ({ path: path.map(String), message })),
  })
}
