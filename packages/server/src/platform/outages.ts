// What neither the caller nor the code is to blame for. Clients are told that it is so, and may come again.

/** The database cannot be used just now. What was asked for may have been done all the same, if it was a commit. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
}

/** A storage has no room left. Nothing was changed. */
export class OutOfSpace extends Error {
  override readonly name = 'OutOfSpace'
}
