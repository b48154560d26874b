// Large chunks of answers, each for several readers. Their memory is used again: allocated anew for every chunk, it
// has the garbage collector look through everything after every few clones.

/** As large as one may be. */
export const MAX_SHARED_BYTES = 256 * 1024
/** Kept for later; more than that may be in use. */
const MAX_FREE = 64

const free: Buffer[] = []
const shared = new WeakMap<Uint8Array, SharedBuffer>()

/** Held by whoever may still read it. One that somebody never releases goes when nobody refers to it any more. */
export class SharedBuffer {
  readonly bytes: Buffer
  readonly #memory: Buffer
  #holders = 1

  constructor(size: number) {
    if (size > MAX_SHARED_BYTES) throw new RangeError(`a shared buffer of ${size} bytes is too large`)
    this.#memory = free.pop() ?? Buffer.allocUnsafeSlow(MAX_SHARED_BYTES)
    this.bytes = this.#memory.subarray(0, size)
    shared.set(this.bytes, this)
  }

  hold(): void {
    this.#holders += 1
  }

  release(): void {
    this.#holders -= 1
    if (this.#holders < 0) throw new Error('a shared buffer was released more often than it was held')
    if (this.#holders === 0 && free.length < MAX_FREE) free.push(this.#memory)
  }
}

/** To be called when the bytes of a chunk have left for good. Means nothing for chunks that are not shared. */
export function releaseChunk(chunk: Uint8Array): void {
  shared.get(chunk)?.release()
}
