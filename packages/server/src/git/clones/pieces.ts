// Large pieces of answers, each for several readers. Their memory is used again: allocated anew for every piece, it
// has the garbage collector look through everything after every few clones.

/** As large as a piece may be. */
export const MAX_PIECE = 256 * 1024
/** Kept for later; more than that may be in use. */
const MAX_FREE = 64

const free: Buffer[] = []
const pieces = new WeakMap<Uint8Array, Piece>()

/** Held by whoever may still read it. One that somebody never releases goes when nobody refers to it any more. */
export class Piece {
  readonly bytes: Buffer
  readonly #memory: Buffer
  #holders = 1

  constructor(size: number) {
    if (size > MAX_PIECE) throw new RangeError(`a piece of ${size} bytes is too large`)
    this.#memory = free.pop() ?? Buffer.allocUnsafeSlow(MAX_PIECE)
    this.bytes = this.#memory.subarray(0, size)
    pieces.set(this.bytes, this)
  }

  hold(): void {
    this.#holders += 1
  }

  release(): void {
    this.#holders -= 1
    if (this.#holders < 0) throw new Error('a piece was released more often than it was held')
    if (this.#holders === 0 && free.length < MAX_FREE) free.push(this.#memory)
  }
}

/** To be called when the bytes of a chunk have left for good. Means nothing for chunks that are no pieces. */
export function releaseChunk(chunk: Uint8Array): void {
  pieces.get(chunk)?.release()
}
