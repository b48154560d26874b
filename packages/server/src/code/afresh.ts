import { ObjectsPruned } from './landing.ts'

/** Does it once more when objects were taken away between looking and landing. */
export const afresh = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    if (error instanceof ObjectsPruned) return work()
    throw error
  })
