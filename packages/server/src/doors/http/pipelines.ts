import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** More than any client sends that waits for answers. */
const MAX_WAITING = 100
/** On all connections; beyond it a connection may have only a few. */
const MANY_WAITING = 1_000
const FEW_WAITING = 8
/** Of all their bodies, which are in memory: as much as one that counts as small. */
const MAX_WAITING_BYTES = 256 * 1024
/** Of a body whose size is not known, so much is read before somebody wants it. */
const READ_AHEAD_BYTES = 64 * 1024

interface Waiting {
  count: number
  bytes: number
}

/**
 * Has the requests of a connection handled one after the other. Node gives them as they come, as many as fit into the
 * connection, and has the answers wait for each other: whoever sends thousands at once would have them all under way.
 */
export function createPipelines() {
  /** The answer that is to be the last on a connection, as far as is known. */
  const lastOn = new WeakMap<Socket, ServerResponse>()
  const waitingOn = new WeakMap<Socket, Waiting>()
  let inAll = 0

  function waitingFirst(socket: Socket): Waiting {
    const waiting = { count: 0, bytes: 0 }
    waitingOn.set(socket, waiting)
    socket.once('close', () => {
      inAll -= waiting.count
      waiting.count = 0
    })
    return waiting
  }

  function wait(request: IncomingMessage, before: ServerResponse, begin: () => void): void {
    const { socket } = request
    const bytes = bytesOf(request)
    const waiting = waitingOn.get(socket) ?? waitingFirst(socket)
    waiting.count++
    waiting.bytes += bytes
    inAll++
    const most = inAll > MANY_WAITING ? FEW_WAITING : MAX_WAITING
    if (waiting.count > most || waiting.bytes > MAX_WAITING_BYTES) {
      socket.destroy()
      return
    }
    const go = () => {
      if (socket.destroyed) return
      inAll--
      waiting.count--
      waiting.bytes -= bytes
      if (!socket.writableEnded) begin()
    }
    // Not before others have had their turn.
    before.once('close', () => setImmediate(go))
  }

  return {
    /** Begins now, or when all that came before it on its connection are answered. */
    inTurn(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
      const { socket } = request
      // Node gives what it has read to its end.
      if (socket.destroyed) return
      const before = lastOn.get(socket)
      lastOn.set(socket, response)
      if (!before || before.writableFinished || before.closed) begin()
      else wait(request, before, begin)
    },
  }
}

/** What a request takes in memory while nobody reads its body. */
function bytesOf({ headers }: IncomingMessage): number {
  const announced = Number(headers['content-length'] ?? 0)
  return headers['transfer-encoding'] === undefined ? Math.min(announced, READ_AHEAD_BYTES) : READ_AHEAD_BYTES
}
