import type { Room } from '../../platform/room.ts'

interface ReadinessDeps {
  isStopping(): boolean
  database: { answers(): Promise<boolean> }
  room: Room
}

/** Whoever asks wants to know in time; a database that takes longer is as good as none. */
const DEADLINE_MS = 1_500

/** Why the server cannot do its work; undefined when it can. It answers in time, whatever it asks does. */
export function createReadiness({ isStopping, database, room }: ReadinessDeps) {
  /** One at a time: a database that does not answer is not asked more and more. */
  let asking: Promise<boolean> | undefined

  function askDatabase(): Promise<boolean> {
    asking ??= database.answers().finally(() => {
      asking = undefined
    })
    return asking
  }

  return async (): Promise<string | undefined> => {
    if (isStopping()) return 'The server is stopping'
    const late = Promise.withResolvers<undefined>()
    const timer = setTimeout(late.resolve, DEADLINE_MS, undefined)
    const inTime = <T>(asked: Promise<T>) => Promise.race([asked, late.promise])
    const [answers, isShort] = await Promise.all([inTime(askDatabase()), inTime(room.isShort())])
    clearTimeout(timer)
    if (!answers) return 'The database does not answer'
    if (isShort === undefined) return 'The disk of the data directory does not answer'
    return isShort ? 'The disk of the data directory is full' : undefined
  }
}
