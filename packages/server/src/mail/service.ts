import type { Bell } from '../background/bell.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Throttle, Throttles } from '../platform/throttles.ts'
import type { Database, Tx } from '../schema.ts'
import type { Sealer } from '../secrets/sealing.ts'
import * as store from './store.ts'

/** What a person is to read. */
export interface Letter {
  to: string
  subject: string
  text: string
  /** From then on the link in it opens nothing. */
  endsAt: number
}

interface MailDeps {
  database: Database
  clock: Clock
  newId: NewId
  throttles: Throttles
  sealer: Sealer
  /** Rung when there is something to send. */
  bell: Bell
}

const DAY_MS = 24 * 60 * 60 * 1000
/** Nobody is to be flooded, whoever asks for it, and nobody floods others from here. */
const PER_RECIPIENT = { count: 10, windowMs: DAY_MS }
/** While a link works. Who gets no more letters then, because others asked for them, has one whose link works. */
const PER_LINK = 3
const PER_SENDER = { count: 200, windowMs: DAY_MS }

export type MailService = ReturnType<typeof createMailService>

/** Letters that are sent beside the requests which caused them, and are not lost with the process. */
export function createMailService({ database, clock, newId, throttles, sealer, bell }: MailDeps) {
  async function sendIn(tx: Tx, { endsAt, ...letter }: Letter): Promise<void> {
    await store.insertLetter(tx, {
      id: newId('let'),
      attempts: 0,
      due_at: clock(),
      ends_at: endsAt,
      worker_id: null,
      created_at: clock(),
      sealed: sealer.seal(JSON.stringify(letter)),
    })
    database.afterCommit(tx, bell.ring)
  }

  /** Counts a letter; false when there have been too many. */
  async function isWithin(key: string, throttle: Throttle): Promise<boolean> {
    try {
      await throttles.take(key, throttle)
      return true
    } catch (error) {
      if (error instanceof Fault) return false
      throw error
    }
  }

  return {
    sendIn,

    /** Whether somebody may have others written to, and this one. Counts it. */
    mayInvite: async (senderId: string, to: string): Promise<boolean> =>
      (await isWithin(`mail by ${senderId}`, PER_SENDER)) &&
      (await isWithin(`invitation to ${to}`, PER_RECIPIENT)),

    /** A link that somebody asked for at their own address. It tells nobody whether anything is sent. */
    async sendQuietly(kind: string, letter: Letter): Promise<void> {
      const throttle = { count: PER_LINK, windowMs: letter.endsAt - clock() }
      if (await isWithin(`${kind} to ${letter.to}`, throttle))
        await database.transact((tx) => sendIn(tx, letter))
    },
  }
}
