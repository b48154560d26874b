import { AsyncLocalStorage } from 'node:async_hooks'
import type { DatabaseUnavailable, OutOfSpace } from '../platform/outages.ts'

type Refusal = DatabaseUnavailable | OutOfSpace

const hearing = new AsyncLocalStorage<{ refusal?: Refusal }>()

/** Notes what the database could not do, for who called a library that keeps it to itself. Gives it back. */
export function noted(refusal: Refusal): Refusal {
  const heard = hearing.getStore()
  if (heard) heard.refusal ??= refusal
  return refusal
}

/** Runs what makes something else of every failure, and throws what the database could not do as it is. */
export async function unhidden<T>(work: () => Promise<T>): Promise<T> {
  const heard: { refusal?: Refusal } = {}
  const [ended] = await Promise.allSettled([hearing.run(heard, async () => work())])
  // It is what is behind a result or a failure that means nothing.
  if (heard.refusal) throw heard.refusal
  if (ended.status === 'rejected') throw ended.reason
  return ended.value
}
