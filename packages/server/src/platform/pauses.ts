import { setImmediate as nextTurn } from 'node:timers/promises'
import { TurnShare } from './turn-share.ts'

/** How long one piece of work may have the process to itself: what others do takes many turns, and each waits so long. */
const SHARE_MS = 2

/** Work that goes on after a pause does so in a share of a turn, however many such pieces there are. */
const share = new TurnShare(SHARE_MS)

/** Counts turns of the event loop, each in which somebody asked. */
let turn = 0
let isCounting = false

function thisTurn(): number {
  if (!isCounting) {
    isCounting = true
    setImmediate(() => {
      isCounting = false
      turn++
    })
  }
  return turn
}

/** To be awaited between two steps. Mostly there is nothing to wait for, and nothing is made of it then. */
export type Pause = () => Promise<void> | undefined

/**
 * For loops that may be long: between two steps, lets everybody else in if it has been at it for its share, and waits for
 * others who are at something long.
 */
export const createPauses = (): Pause =>
  pausesBy(async () => {
    await nextTurn()
    await share.take()
  })

/** Inside a transaction, for whose end others wait: it goes on with the next turn, before anybody else. */
export const createPausesInTransaction = (): Pause => pausesBy(() => nextTurn())

function pausesBy(pause: () => Promise<void>): Pause {
  let seen = thisTurn()
  let since = performance.now()
  async function rest(): Promise<void> {
    await pause()
    seen = thisTurn()
    since = performance.now()
  }
  return () => {
    const now = performance.now()
    // In a turn later it has waited for something, and nobody for it.
    if (thisTurn() !== seen) {
      seen = turn
      since = now
    }
    return now - since < SHARE_MS ? undefined : rest()
  }
}
