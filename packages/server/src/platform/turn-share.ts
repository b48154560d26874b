/**
 * For work that comes by the dozen and takes but a moment each time: it goes on for its share of a turn of the event loop,
 * the rest of it in the next turns, in order. So whatever else there is to do waits for one or two and not for all of
 * them, however many have come.
 */
export class TurnShare {
  readonly #shareMs: number
  readonly #waiting: (() => void)[] = []
  /** When the share of this turn ends; undefined while nobody has taken of it. */
  #endsAt: number | undefined

  constructor(shareMs: number) {
    this.#shareMs = shareMs
  }

  /** Undefined where there is nothing to wait for. */
  take(): Promise<void> | undefined {
    if (this.#endsAt === undefined) this.#begin()
    else if (this.#waiting.length > 0 || performance.now() >= this.#endsAt)
      return new Promise((resolve) => this.#waiting.push(resolve))
    return undefined
  }

  #begin(): void {
    this.#endsAt = performance.now() + this.#shareMs
    setImmediate(() => {
      this.#endsAt = undefined
      if (this.#waiting.length === 0) return
      this.#begin()
      this.#letIn()
    })
  }

  #letIn(): void {
    this.#waiting.shift()?.()
    // Once it has done what it does without waiting for anything but promises.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (this.#waiting.length > 0 && performance.now() < (this.#endsAt ?? 0)) this.#letIn()
      }),
    )
  }
}
