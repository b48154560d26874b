// What neither the caller nor the code is to blame for. Clients are told that it is so, and may come again.

/** The database cannot be used just now. What was asked for may have been done all the same, if it was a commit. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
}

/** What is said to whoever wanted to write. */
export const NO_ROOM = 'The server has no room left; nothing was changed'

/** A storage has no room left. Nothing was changed. */
export class OutOfSpace extends Error {
  override readonly name = 'OutOfSpace'
}

const FULL_CODES = ['ENOSPC', 'EDQUOT']

/** What says that a disk is full, if that is what is behind an error. */
export function outOfSpaceIn(error: unknown): OutOfSpace | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof OutOfSpace) return cause
    if (FULL_CODES.includes((cause as NodeJS.ErrnoException).code ?? ''))
      return new OutOfSpace('The disk is full', { cause: error })
  }
  return undefined
}

/** Whether this is no failure of what was being done, and not to be told as one. */
export const isOutage = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || outOfSpaceIn(error) !== undefined
