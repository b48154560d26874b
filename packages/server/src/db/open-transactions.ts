import { AsyncLocalStorage } from 'node:async_hooks'

/** A transaction was asked for by somebody who is in one. On SQLite it would wait for itself, for ever. */
export class NestedTransaction extends Error {
  constructor(outer: Error) {
    super('A transaction was begun inside another: pass the Tx on instead', { cause: outer })
  }
}

/** A transaction that keeps others waiting, or has. */
export interface LongTransaction {
  ms: number
  /** The stack of whoever began it. */
  openedBy: string | undefined
  isOpen: boolean
}

interface OpenTransaction {
  since: number
  openedBy: Error
  isOpen: boolean
  isTold: boolean
}

const WATCH_EVERY_MS = 1_000

export type OpenTransactions = ReturnType<typeof trackTransactions>

/** Knows which transactions are open: refuses one inside another, and tells of those that stay open for `longMs`. */
export function trackTransactions(longMs: number, onLong: (long: LongTransaction) => void) {
  const open = new Set<OpenTransaction>()
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
    onLong({ ms: Math.round(ms), openedBy: transaction.openedBy.stack, isOpen: transaction.isOpen })
  }

  return {
    /** Call it first thing, while whoever wants the transaction is still on the stack. */
    opener(): Error {
      const outer = context.getStore()
      if (outer?.isOpen) throw new NestedTransaction(outer.openedBy)
      return stackOfCaller()
    },

    /** Runs `work`, which is in the transaction from its first moment to its end. */
    async run<T>(openedBy: Error, work: () => Promise<T>): Promise<T> {
      const transaction = { since: performance.now(), openedBy, isOpen: true, isTold: false }
      open.add(transaction)
      try {
        return await context.run(transaction, work)
      } finally {
        transaction.isOpen = false
        open.delete(transaction)
        const ms = performance.now() - transaction.since
        if (ms >= longMs) tell(transaction, ms)
      }
    },

    stop(): void {
      clearInterval(watch)
    },
  }
}

/** A few frames: every transaction pays for them. The text is made only when somebody reads it. */
function stackOfCaller(): Error {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 5
  const here = new Error('begun here')
  Error.stackTraceLimit = stackTraceLimit
  return here
}
