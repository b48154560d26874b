/** Nobody waits for many more turns than this, also where one share is not enough for all that comes. */
const TURNS = 8
/** However much that is: everything else waits for it. */
const LONGEST_MS = 8

/** Those who wait, one owner after the other, so that one with many does not delay one with few. */
class Line {
  /** Whose turn it is comes first. */
  readonly #owners = new Map<string, (() => void)[]>()
  length = 0

  push(owner: string, letIn: () => void): void {
    const own = this.#owners.get(owner)
    if (own) own.push(letIn)
    else this.#owners.set(owner, [letIn])
    this.length++
  }

  shift(): (() => void) | undefined {
    const [next] = this.#owners
    if (!next) return undefined
    const [owner, waiting] = next
    this.#owners.delete(owner)
    const letIn = waiting.shift()
    if (waiting.length > 0) this.#owners.set(owner, waiting)
    this.length--
    return letIn
  }
}

/**
 * For work that comes by the dozen and takes but a moment each time: it goes on for its share of a turn of the event loop,
 * the rest of it in the next turns, in order. So whatever else there is to do waits for a few and not for all of them,
 * however many have come.
 */
export class TurnShare {
  readonly #shareMs: number
  readonly #countWaiting: () => number
  readonly #waiting = new Line()
  /** When it was first taken of in this turn. */
  #since: number | undefined
  /** How many are let in with this turn, also beyond its share. */
  #due = 0
  #isShort = false

  /** Those who wait may do so elsewhere, and come here one by one. */
  constructor(shareMs: number, countWaiting?: () => number) {
    this.#shareMs = shareMs
    this.#countWaiting = countWaiting ?? (() => this.#waiting.length)
  }

  /** Undefined where there is nothing to wait for. Of several owners each has its turn. */
  take(owner = ''): Promise<void> | undefined {
    if (this.#since === undefined) this.#begin()
    else if (this.#waiting.length > 0 || !this.#hasRoom(this.#since))
      return new Promise((resolve) => this.#waiting.push(owner, resolve))
    this.#due--
    return undefined
  }

  /** Ends this turn with its share, and the next one too. */
  keepShort(): void {
    this.#due = 0
    this.#isShort = true
  }

  #hasRoom(since: number): boolean {
    const taken = performance.now() - since
    return taken < this.#shareMs || (this.#due > 0 && taken < LONGEST_MS)
  }

  #begin(): void {
    this.#since = performance.now()
    this.#due = this.#isShort ? 0 : Math.ceil(this.#countWaiting() / TURNS)
    this.#isShort = false
    setImmediate(() => {
      this.#since = undefined
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
        if (this.#waiting.length > 0 && this.#hasRoom(this.#since ?? 0)) this.#letIn()
      }),
    )
  }
}
