import { IncomingMessage } from 'node:http'

/** Chunks from this size on cost little more than their bytes. */
const SMALL_CHUNK = 1024
const SLAB_BYTES = 16 * 1024
/** Whoever goes on like this has nothing to say: a chunk costs a hundred times what its byte does. */
const FEW_CHUNKS = 1_000
const SMALLEST_AVERAGE = 4

/** What has come in chunks that are too small to be told one by one. */
interface Gathering {
  slab: Buffer
  /** Where in it begins what has not been told yet, and where that ends. */
  start: number
  end: number
  isDue: boolean
  chunks: number
  bytes: number
}

/**
 * A request whose body may come in chunks of a byte each. Small ones are put together, as many as come in one turn of the
 * event loop, and nothing more is read of this connection before others have had theirs.
 */
export class GatheringMessage extends IncomingMessage {
  /** Null where the length is known: then Node itself gives what has come in one piece. */
  #gathering: Gathering | null | undefined

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (this.#gathering === undefined)
      this.#gathering = this.headers['transfer-encoding'] === undefined ? null : begin()
    const gathering = this.#gathering
    if (gathering === null) return super.push(chunk, encoding)
    if (chunk === null || chunk.length >= SMALL_CHUNK) {
      this.#tell(gathering)
      return super.push(chunk, encoding)
    }
    gathering.bytes += chunk.length
    if (++gathering.chunks > FEW_CHUNKS && gathering.bytes < gathering.chunks * SMALLEST_AVERAGE) {
      this.socket.destroy()
      return false
    }
    this.#gather(gathering, chunk)
    // No more of it until what has been gathered is told, and somebody asks for more.
    return false
  }

  #gather(gathering: Gathering, chunk: Buffer): void {
    if (gathering.end + chunk.length > gathering.slab.length) {
      this.#tell(gathering)
      gathering.slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
      gathering.start = 0
      gathering.end = 0
    }
    gathering.slab.set(chunk, gathering.end)
    gathering.end += chunk.length
    if (gathering.isDue) return
    gathering.isDue = true
    setImmediate(() => {
      gathering.isDue = false
      this.#tell(gathering)
    })
  }

  #tell(gathering: Gathering): void {
    const { slab, start, end } = gathering
    if (start === end || this.destroyed) return
    gathering.start = end
    super.push(slab.subarray(start, end))
  }
}

const NOTHING = Buffer.alloc(0)

const begin = (): Gathering => ({ slab: NOTHING, start: 0, end: 0, isDue: false, chunks: 0, bytes: 0 })
