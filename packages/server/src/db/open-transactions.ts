import { AsyncLocalStorage } from 'node:async_hooks'
import { type Bagged, createBag } from '../platform/bag.ts'

/** A transaction was asked for by somebody who is in one. On SQLite it would wait for itself, for ever. */
export class NestedTransaction extends Error {
  constructor(outer: Work) {
    super(`A transaction was begun inside another: pass the Tx on instead. The other is ${sourceOf(outer)}`)
  }
}

/** A transaction that keeps others waiting, or has. */
export interface LongTransaction {
  ms: number
  /** How the source of what it does begins: to be found in the code by. */
  work: string
  isOpen: boolean
}

type Work = (...args: never[]) => unknown

interface OpenTransaction extends Bagged {
  since: number
  work: Work
  isOpen: boolean
  isTold: boolean
}

const WATCH_EVERY_MS = 1_000
const SOURCE_CHARS = 300

export type OpenTransactions = ReturnType<typeof trackTransactions>

/** Knows which transactions are open: refuses one inside another, and tells of those that stay open for `longMs`. */
export function trackTransactions(longMs: number, onLong: (long: LongTransaction) => void) {
  const open = createBag<OpenTransaction>()
  // Only to notice nesting. What is done in a transaction goes by the Tx that is passed on, never by this.
  const context = new AsyncLocalStorage<OpenTransaction>()

  const watch = setInterval(() => {
    for (const transaction of open) {
      const ms = performance.now() - transaction.since
      if (ms >= longMs && !transaction.isTold) tell(transaction, ms)
    }
  }, WATCH_EVERY_MS).unref()

  function tell(transaction: OpenTransaction, ms: number): void {
    transaction.isTold = true
    onLong({ ms: Math.round(ms), work: sourceOf(transaction.work), isOpen: transaction.isOpen })
  }

  return {
    /** Call it before waiting for a transaction, which would not come. */
    refuseNested(): void {
      const outer = context.getStore()
      if (outer?.isOpen) throw new NestedTransaction(outer.work)
    },

    /** Runs `work`, which is in the transaction from its first moment to its end. */
    async run<Tx, T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
      const transaction = { since: performance.now(), work, isOpen: true, isTold: false, place: 0 }
      open.add(transaction)
      try {
        return await context.run(transaction, work, tx)
      } finally {
        transaction.isOpen = false
        open.remove(transaction)
        const ms = performance.now() - transaction.since
        if (ms >= longMs) tell(transaction, ms)
      }
    },

    stop(): void {
      clearInterval(watch)
    },
  }
}

/** Not the stack of whoever began it: to note one costs every transaction as much as its fastest statement. */
const sourceOf = (work: Work): string => work.toString().replaceAll(/\s+/g, ' ').slice(0, SOURCE_CHARS)
