/** In whose hands something is to be that is only being made, and what they do with it once it is there. */
export interface Place<Item> {
  workerId: string
  /** What has come of it, if anything. Nothing else is taken before this is said. */
  fill(items: readonly Item[]): void
}

/** `fits` is told what is in hand, and how many places are promised to others. */
type Reserve<Item> = (fits: (inHand: readonly Item[], promised: number) => boolean) => Place<Item> | undefined

/**
 * Where whoever makes an item finds the worker of this process, to put it straight into its hands in the transaction that
 * makes it. Undefined is always an answer: then the item waits until somebody takes it.
 */
export interface Desk<Item> {
  reserve: Reserve<Item>
  /** At most one serves. */
  open(reserve: Reserve<Item>): void
}

export function createDesk<Item>(): Desk<Item> {
  let serving: Reserve<Item> = () => undefined
  return {
    reserve: (fits) => serving(fits),
    open: (reserve) => {
      serving = reserve
    },
  }
}
