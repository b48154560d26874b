/**
 * Cursors are opaque to clients: the place where a page ended. One that cannot be read is no cursor, so the listing
 * starts over.
 */
interface CursorCodec<T> {
  encode(last: T): string
  decode(cursor: string | undefined): T | undefined
}

const MARK = 'c1:'

export const textCursor: CursorCodec<string> = {
  encode: (last) => Buffer.from(MARK + last).toString('base64url'),
  decode: (cursor) => {
    if (!cursor) return undefined
    const text = Buffer.from(cursor, 'base64url').toString()
    // What PostgreSQL cannot compare cannot be where a page ended.
    return text.startsWith(MARK) && !text.includes('\0') ? text.slice(MARK.length) : undefined
  },
}

export const numberCursor: CursorCodec<number> = {
  encode: (last) => textCursor.encode(String(last)),
  decode: (cursor) => {
    const number = Number(textCursor.decode(cursor) || Number.NaN)
    return Number.isSafeInteger(number) ? number : undefined
  },
}

/** Cuts a page out of rows that were asked for one past the limit, so as to know whether more follow. */
export function pageFrom<Row>(
  rows: Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { items: Row[]; nextCursor: string | null } {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
