import * as z from 'zod'

/** Where the previous page ended. Opaque; one that cannot be read starts over, it is never an error. */
export const Cursor = z.string()

export const pageLimit = (max: number, fallback: number) => z.int().min(1).max(max).default(fallback)

/** Input of a listing with the ordinary page size. */
export const Page = z.object({ cursor: Cursor.optional(), limit: pageLimit(100, 50) })

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })

export const listOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item) })
