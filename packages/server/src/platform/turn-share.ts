/** Nobody waits for many more turns than this, also where one share is not enough for all that comes. */
const TURNS = 8

/**
 * For work that comes by the dozen and takes but a moment each time: it goes on for its share of a turn of the event loop,
 * the rest of it in the next turns, in order. So whatever else there is to do waits for a few and not for all of them,
 * however many have come.
 */
export class TurnShare {
  readonly #shareMs: number
  readonly #countWaiting: () => number
  readonly #waiting: (() => void)[] = []
  /** When the share of this turn ends; undefined while nobody has taken of it. */
  #endsAt: number | undefined
  /** How many are let in with this turn, however long it takes. */
  #due = 0

  /** Those who wait may do so elsewhere, and come here one by one. */
  constructor(shareMs: number, countWaiting?: () => number) {
    this.#shareMs = shareMs
    this.#countWaiting = countWaiting ?? (() => this.#waiting.length)
  }

  /** Undefined where there is nothing to wait for. */
  take(): Promise<void> | undefined {
    if (this.#endsAt === undefined) this.#begin()
    else if (this.#waiting.length > 0 || !this.#hasRoom(this.#endsAt))
      return new Promise((resolve) => this.#waiting.push(resolve))
    this.#due--
    return undefined
  }

  #hasRoom(endsAt: number): boolean {
    return this.#due > 0 || performance.now() < endsAt
  }

  #begin(): void {
    const endsAt = performance.now() + this.#shareMs
    this.#endsAt = endsAt
    this.#due = Math.ceil(this.#countWaiting() / TURNS)
    setImmediate(() => {
      this.#endsAt = undefined
      if (this.#waiting.length === 0) return
      this.#begin()
      this.#letIn()
    })
  }

  #letIn(): void {
    this.#waiting.shift()?.()
    this.#due--
    // Once it has done what it does without waiting for anything but promises.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (this.#waiting.length > 0 && this.#hasRoom(this.#endsAt ?? 0)) this.#letIn()
      }),
    )
  }
}
