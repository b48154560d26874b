import { DatabaseUnavailable } from '../../platform/outages.ts'
import { StartError } from '../../platform/start-error.ts'
import { fieldOf } from '../dialect.ts'

/** By the primary code of SQLite. */
const remedies: Record<number, string> = {
  5: 'is held by another program: end that, and start again',
  8: 'may not be written: give it and its directory to the user that Trellis runs as',
  10: 'cannot be read or written: look at the disk, and at what the system says about it',
  11: 'is damaged: restore a backup',
  13: 'is on a disk that is full: make room',
  14: 'cannot be opened: give it and its directory to the user that Trellis runs as',
  26: 'is no database of SQLite: move it away, or restore a backup',
}

/** What keeps a start from the database, with what to do about it; undefined for anything else. */
export function inWords(error: unknown, path: string): StartError | undefined {
  if (error instanceof DatabaseUnavailable && error.cause instanceof Error)
    return new StartError(`The database ${path} ${remedies[10]} (${error.cause.message}).`, { cause: error })
  const remedy = remedies[Number(fieldOf(error, 'errcode') ?? 0) & 0xff]
  if (!remedy) return undefined
  return new StartError(`The database ${path} ${remedy} (${(error as Error).message}).`, { cause: error })
}
