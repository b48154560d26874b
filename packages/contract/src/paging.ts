import * as z from 'zod'

export const Cursor = z
  .string()
  .describe(
    'Where the previous page ended. Opaque; one that cannot be read starts over, it is never an error.',
  )

/** Null on the last page. */
export const NextCursor = z
  .string()
  .nullable()
  .describe('Give it as `cursor` to read on; null on the last page.')

export const pageLimit = (max: number, fallback: number) =>
  z.int().min(1).max(max).default(fallback).describe('The most items of a page.')

/** Input of a listing with the ordinary page size. */
export const Page = z.object({ cursor: Cursor.optional(), limit: pageLimit(100, 50) })

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: NextCursor })

export const listOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item) })
