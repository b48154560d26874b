import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { TurnShare } from '../../platform/turn-share.ts'

/** What Node has on a connection and does not name in its types. */
interface Parsed extends Socket {
  parser?: Parser | null
  /** Waits until the client takes what it is told. */
  _paused?: boolean
}

interface Parser {
  onIncoming(request: IncomingMessage, keepAlive: boolean): number
  resume(): void
}

interface ParseError extends Error {
  code?: string
  bytesParsed?: number
  rawPacket?: Buffer
}

/** What the parser does after the headers of a request. One that it does not know ends its work. */
const STOP = -1
const PAUSE = 21
const PAUSED = 'HPE_PAUSED'

/**
 * Of a slice one byte in six may be a chunk, and then 2 KB take a millisecond. Mostly it is one chunk or two, and whoever
 * reads the body is better off with few pieces.
 */
const FIRST_SLICE = 8 * 1024
const LARGE_SLICE = 64 * 1024
const SMALL_SLICE = 2 * 1024
/** What one connection may take of a turn of the event loop, and what all of them; no slice is begun after it. */
const SHARE_MS = 0.3
const SHARE_OF_ALL_MS = 4

/**
 * Has the parser leave the loop to others. What one read has brought, which is up to 64 KB, it works off by itself, and
 * all connections on which something came follow each other in the same turn.
 *
 * - It goes on when the connection has been ended. Here it stops.
 * - A body in chunks may be ten thousand of them, 30 ms. Here it waits after the headers of such a request, and is given
 *   the rest in slices.
 */
export function parseInTurns(server: Server): void {
  server.on('connection', (socket: Parsed) => {
    const { parser } = socket
    if (!parser) return
    const take = parser.onIncoming
    let isSliced = false
    parser.onIncoming = (request, keepAlive) => {
      const told = take(request, keepAlive)
      if (socket.destroyed) return STOP
      if (isSliced || told !== 0 || request.headers['transfer-encoding'] === undefined) return told
      isSliced = true
      return PAUSE
    }
  })
  // Node takes the pause for an error, and has what was not parsed in it.
  server.prependListener('clientError', (error: ParseError, socket: Parsed) => {
    if (isPause(error)) goOnInSlices(socket, error)
  })
}

export const isPause = ({ code }: ParseError): boolean => code === PAUSED

const shareOfAll = new TurnShare(SHARE_OF_ALL_MS)

function goOnInSlices(socket: Parsed, { rawPacket, bytesParsed }: ParseError): void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
  if (!parse || !rawPacket || !socket.parser) {
    socket.destroy()
    return
  }
  let isLetIn = false
  let slice = FIRST_SLICE
  const goOn = () => {
    isLetIn = true
    if (!socket._paused) socket.resume()
  }
  const parseSome = (bytes: Buffer) => {
    const turn = isLetIn ? undefined : shareOfAll.take()
    isLetIn = false
    const begun = performance.now()
    let at = 0
    while (!turn && at < bytes.length) {
      const before = performance.now()
      parse(bytes.subarray(at, at + slice))
      at += slice
      if (socket.destroyed) return
      const now = performance.now()
      slice = now - before > SHARE_MS ? SMALL_SLICE : LARGE_SLICE
      if (socket._paused || now - begun > SHARE_MS) break
    }
    if (at >= bytes.length) return
    // Whoever has paused it will have it go on.
    const isPaused = socket.isPaused()
    socket.pause()
    socket.unshift(bytes.subarray(at))
    if (isPaused) return
    if (turn) turn.then(goOn)
    else setImmediate(goOn)
  }
  socket.off('data', parse)
  socket.on('data', parseSome)
  socket.parser.resume()
  parseSome(rawPacket.subarray(bytesParsed))
}
