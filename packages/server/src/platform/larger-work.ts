import { TurnShare } from './turn-share.ts'

/** Shorter ones leave less to those who do the work, longer ones less to everybody else. */
const SHARE_MS = 0.5

/**
 * For whatever reads or makes objects: a piece of it, from one wait to the next, takes part of a millisecond, and agents
 * ask for it by the dozen. Each piece begins in this share of a turn of the event loop, one organization after the other,
 * so that a small call waits for one of them or two and not for all that are due.
 */
export const largerWork = new TurnShare(SHARE_MS)
