// The framing of git's wire protocol: four hex digits of length, then that many bytes less four.

/** The other side broke the protocol. The message may be shown to it. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

export type Packet = { kind: 'data'; data: Buffer } | { kind: 'flush' | 'delim' | 'response-end' }

export const FLUSH_PACKET = Buffer.from('0000')
export const DELIM_PACKET = Buffer.from('0001')

export const MAX_PACKET_BYTES = 65520
const HEADER_BYTES = 4
/** As much of a band as goes into one packet. */
const MAX_SIDEBAND_BYTES = MAX_PACKET_BYTES - HEADER_BYTES - 1

/** Throws when the payload does not go into one packet. */
export function dataPacket(payload: string | Uint8Array): Buffer {
  const length = HEADER_BYTES + Buffer.byteLength(payload)
  if (length > MAX_PACKET_BYTES) throw new RangeError(`a packet of ${length} bytes is too long`)
  const header = length.toString(16).padStart(HEADER_BYTES, '0')
  if (typeof payload === 'string') return Buffer.from(header + payload)
  return Buffer.concat([Buffer.from(header), payload])
}

/** What a client shows as "remote error: …". */
export function errorPacket(message: string): Buffer {
  return dataPacket(`ERR ${message.slice(0, 1000)}\n`)
}

type Band = 'data' | 'progress' | 'error'
const bandNumber = { data: 1, progress: 2, error: 3 } as const

/** As many packets of a band as it takes. */
export function* sideband(band: Band, payload: string | Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(payload as Uint8Array)
  for (let start = 0; start < bytes.length; start += MAX_SIDEBAND_BYTES) {
    const part = bytes.subarray(start, start + MAX_SIDEBAND_BYTES)
    yield Buffer.concat([sidebandHeader(band, part.length), part])
  }
}

/** What comes before that many bytes of a band. */
function sidebandHeader(band: Band, length: number): Buffer {
  const whole = HEADER_BYTES + 1 + length
  return Buffer.from(
    `${whole.toString(16).padStart(HEADER_BYTES, '0')}${String.fromCharCode(bandNumber[band])}`,
  )
}

/** The text of a data packet, without the newline that senders may or may not add. */
export function packetText(data: Buffer): string {
  const end = data.at(-1) === 0x0a ? data.length - 1 : data.length
  return data.toString('utf8', 0, end)
}

export interface PacketReader {
  /** The next packet, or undefined at a clean end of input. */
  next(): Promise<Packet | undefined>
  /** Everything after the last packet, as it comes. Ends the reading of packets. */
  rest(): AsyncGenerator<Buffer, void, undefined>
}

/** Reads packets from any stream of bytes, in whatever chunks it comes; `maxBytes` bounds all packets together. */
export function readPackets(input: AsyncIterable<Uint8Array>, maxBytes: number): PacketReader {
  const source = input[Symbol.asyncIterator]()
  let chunks: Buffer[] = []
  let available = 0
  let taken = 0
  let ended = false

  async function fill(length: number): Promise<boolean> {
    while (available < length && !ended) {
      const { value, done } = await source.next()
      if (done) ended = true
      else if (value.length > 0) {
        chunks.push(Buffer.from(value.buffer, value.byteOffset, value.length))
        available += value.length
      }
    }
    return available >= length
  }

  function take(length: number): Buffer {
    // Joined once per packet, however small the chunks are that it came in.
    const first = chunks[0] as Buffer
    const whole = first.length >= length ? first : Buffer.concat(chunks)
    if (whole !== first) chunks = [whole]
    chunks[0] = whole.subarray(length)
    if (chunks[0].length === 0) chunks.shift()
    available -= length
    taken += length
    return whole.subarray(0, length)
  }

  async function next(): Promise<Packet | undefined> {
    if (available < HEADER_BYTES && !(await fill(HEADER_BYTES))) {
      if (available === 0) return undefined
      throw new ProtocolError('the request ends inside a packet')
    }
    const length = packetLength(take(HEADER_BYTES))
    if (taken + Math.max(0, length - HEADER_BYTES) > maxBytes)
      throw new ProtocolError('the request is too large')
    if (length === 0) return { kind: 'flush' }
    if (length === 1) return { kind: 'delim' }
    if (length === 2) return { kind: 'response-end' }
    if (length < HEADER_BYTES || length > MAX_PACKET_BYTES) throw new ProtocolError('bad packet length')
    if (length === HEADER_BYTES) return { kind: 'data', data: Buffer.alloc(0) }
    const bytes = length - HEADER_BYTES
    if (available < bytes && !(await fill(bytes))) throw new ProtocolError('the request ends inside a packet')
    return { kind: 'data', data: take(bytes) }
  }

  async function* rest(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* chunks.splice(0)
      while (!ended) {
        const { value, done } = await source.next()
        if (done) ended = true
        else if (value.length > 0) yield Buffer.from(value.buffer, value.byteOffset, value.length)
      }
    } finally {
      if (!ended) await source.return?.()
    }
  }

  return { next, rest }
}

function packetLength(header: Buffer): number {
  const text = header.toString('latin1')
  if (!/^[0-9a-fA-F]{4}$/.test(text)) throw new ProtocolError('bad packet length')
  return Number.parseInt(text, 16)
}
