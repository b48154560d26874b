import type { Bell } from '../background/bell.ts'
import { type Hold, leased } from '../background/leased.ts'
import type { Work } from '../background/work.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../schema.ts'
import type { Sealer } from '../secrets/sealing.ts'
import type { CountMail } from './metrics.ts'
import * as store from './store.ts'
import { isRefusedForGood, type Transport } from './transport.ts'

interface SendingDeps {
  database: Database
  clock: Clock
  log: Log
  sealer: Sealer
  transport: Transport
  bell: Bell
  count: CountMail
}

const CONCURRENCY = 4
const LEASE_MS = 30_000
/** After each attempt that failed; after the last one it is given up. */
const RETRY_MS = [10, 60, 300, 1800, 7200, 6 * 3600].map((seconds) => seconds * 1000)
const LONGEST_WAIT_MS = Math.max(...RETRY_MS)

/** Sends letters: each in the hands of one process at a time, with a bound on how often it is tried. */
export function sendLetters({ database, clock, log, sealer, transport, bell, count }: SendingDeps): Work {
  async function send(
    { id, sealed, ends_at, attempts }: store.LetterRow,
    { workerId, abort }: Hold,
  ): Promise<void> {
    const forget = () => database.transact((tx) => store.deleteLetter(tx, id))
    if (ends_at <= clock()) {
      count('expired')
      return forget()
    }
    try {
      await unlessAborted(abort, transport.send({ id, ...JSON.parse(sealer.open(sealed)) }))
    } catch (error) {
      // Whoever takes it next sends it again, as the same letter.
      if (abort.aborted) return
      const wait = RETRY_MS[attempts]
      const isOver = wait === undefined || isRefusedForGood(error)
      log.warn(isOver ? 'a letter is given up' : 'a letter could not be sent yet', {
        letter: id,
        attempts: attempts + 1,
        error,
      })
      count(isOver ? 'given_up' : 'failed')
      if (isOver) return forget()
      await database.transact((tx) => store.postpone(tx, { id, workerId, dueAt: clock() + wait }))
      return
    }
    count('sent')
    await forget()
  }

  return leased<store.LetterRow>({
    name: 'mail',
    concurrency: CONCURRENCY,
    leaseMs: LEASE_MS,
    bell,
    keyOf: ({ id }) => id,
    claim: ({ workerId, room }) => {
      const now = clock()
      const latest = now + LONGEST_WAIT_MS
      return store.claimLetters(database, { workerId, now, leaseMs: LEASE_MS, latest, limit: room })
    },
    work: send,
    giveBack: async (ids, workerId) => {
      await database.transact((tx) => store.giveBack(tx, ids, workerId))
    },
  })
}

async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
