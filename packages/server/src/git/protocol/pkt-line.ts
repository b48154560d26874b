// The framing of git's wire protocol: four hex digits of length, then that many bytes less four.

import { joined } from '../../platform/joined.ts'

/** The other side broke the protocol. The message may be shown to it. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

export type Packet = { kind: 'data'; data: Buffer } | { kind: 'flush' | 'delim' | 'response-end' }

export const FLUSH_PACKET = Buffer.from('0000')

export const MAX_PACKET_BYTES = 65520
const HEADER_BYTES = 4
/** Lengths that stand for something else. */
const SPECIAL = ['flush', 'delim', 'response-end'] as const
/** As much of a band as goes into one packet. */
const MAX_SIDEBAND_BYTES = MAX_PACKET_BYTES - HEADER_BYTES - 1

/** Throws when the payload does not go into one packet. */
export function dataPacket(payload: string | Uint8Array): Buffer {
  const length = HEADER_BYTES + Buffer.byteLength(payload)
  if (length > MAX_PACKET_BYTES) throw new RangeError(`a packet of ${length} bytes is too long`)
  const header = lengthDigits(length)
  if (typeof payload === 'string') return Buffer.from(header + payload)
  return Buffer.concat([Buffer.from(header), payload])
}

/** What a packet of that length, with these digits, begins with. */
export const lengthDigits = (length: number): string => length.toString(16).padStart(HEADER_BYTES, '0')

/** Frames packets one after the other into few pieces: many short ones take little more memory than their bytes. */
export function createFraming() {
  const pieces: Buffer[] = []
  let piece = Buffer.allocUnsafe(FIRST_PIECE_BYTES)
  let used = 0

  function makeRoom(length: number): void {
    if (piece.length - used >= length) return
    pieces.push(piece.subarray(0, used))
    piece = Buffer.allocUnsafeSlow(Math.max(length, PIECE_BYTES))
    used = 0
  }

  return {
    add(packet: Packet): void {
      const data = packet.kind === 'data' ? packet.data : EMPTY
      const length = packet.kind === 'data' ? HEADER_BYTES + data.length : SPECIAL.indexOf(packet.kind)
      makeRoom(HEADER_BYTES + data.length)
      piece.write(lengthDigits(length), used, 'latin1')
      piece.set(data, used + HEADER_BYTES)
      used += HEADER_BYTES + data.length
    },
    joined: (): Promise<Buffer> => joined([...pieces, piece.subarray(0, used)]),
  }
}

/** As much as most requests take, and as much as those that take more may waste. */
const FIRST_PIECE_BYTES = 1024
const PIECE_BYTES = 64 * 1024
const EMPTY = Buffer.alloc(0)

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
  return Buffer.from(`${lengthDigits(whole)}${String.fromCharCode(bandNumber[band])}`)
}

/** The text of a data packet, without the newline that senders may or may not add. */
export function packetText(data: Buffer): string {
  const end = data.at(-1) === 0x0a ? data.length - 1 : data.length
  return data.toString('utf8', 0, end)
}

export interface PacketReader {
  /** The next packet, or undefined at a clean end of input. */
  next(): Promise<Packet | undefined>
  /** The same, if all of it has come; otherwise there may be one or none. */
  ready(): Packet | undefined
  /** Everything after the last packet, as it comes. Ends the reading of packets. */
  rest(): AsyncGenerator<Buffer, void, undefined>
}

/** Reads packets from any stream of bytes, in whatever chunks it comes; `maxBytes` bounds all packets together. */
export function readPackets(input: AsyncIterable<Uint8Array>, maxBytes: number): PacketReader {
  const source = input[Symbol.asyncIterator]()
  /** What is being read, from `at` on, and what came after it. */
  let chunk: Buffer = EMPTY
  let at = 0
  let later: Buffer[] = []
  let available = 0
  let taken = 0
  let ended = false

  /** Waits for more; false when there is none. */
  async function fill(): Promise<boolean> {
    const { value, done } = await source.next()
    if (done) ended = true
    else if (value.length > 0) {
      later.push(Buffer.from(value.buffer, value.byteOffset, value.length))
      available += value.length
    }
    return !ended
  }

  /** Has so many bytes, which are here, in one piece: joined once per packet, however small the chunks are they came in. */
  function gather(length: number): void {
    if (chunk.length - at >= length) return
    const [first] = later
    const isInFirst = at === chunk.length && first && first.length >= length
    chunk = isInFirst ? first : Buffer.concat([chunk.subarray(at), ...later])
    later = isInFirst ? later.slice(1) : []
    at = 0
  }

  function take(length: number): Buffer {
    at += length
    available -= length
    taken += length
    return chunk.subarray(at - length, at)
  }

  function ready(): Packet | undefined {
    if (available < HEADER_BYTES) return undefined
    gather(HEADER_BYTES)
    const length = lengthAt(chunk, at)
    if (taken + Math.max(HEADER_BYTES, length) > maxBytes) throw new ProtocolError('the request is too large')
    const kind = SPECIAL[length]
    if (!kind && (length < HEADER_BYTES || length > MAX_PACKET_BYTES))
      throw new ProtocolError('bad packet length')
    const whole = kind ? HEADER_BYTES : length
    if (available < whole) return undefined
    gather(whole)
    const packet = take(whole)
    return kind ? { kind } : { kind: 'data', data: packet.subarray(HEADER_BYTES) }
  }

  async function next(): Promise<Packet | undefined> {
    for (;;) {
      const packet = ready()
      if (packet) return packet
      if (ended || !(await fill())) break
    }
    if (available === 0) return undefined
    throw new ProtocolError('the request ends inside a packet')
  }

  async function* rest(): AsyncGenerator<Buffer, void, undefined> {
    try {
      if (at < chunk.length) yield chunk.subarray(at)
      do yield* later.splice(0)
      while (!ended && (await fill()))
    } finally {
      if (!ended) await source.return?.()
    }
  }

  return { next, ready, rest }
}

/** What four hex digits say. */
function lengthAt(bytes: Buffer, at: number): number {
  let length = 0
  for (let i = at; i < at + HEADER_BYTES; i++) {
    const digit = DIGITS[bytes[i] as number] as number
    if (digit < 0) throw new ProtocolError('bad packet length')
    length = length * 16 + digit
  }
  return length
}

/** Of each byte the value as a hex digit, or -1. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) =>
  /[0-9a-f]/i.test(String.fromCharCode(byte)) ? Number.parseInt(String.fromCharCode(byte), 16) : -1,
)
