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

/** The requests of a connection. */
interface Line {
  /** The answer that is to be the last, as far as is known. */
  last: ServerResponse
  /** How many bytes had been read when a request was begun last. */
  begunAt: number
  waiting: number
  waitingBytes: number
}

/**
 * Has the requests of a connection handled one after the other, and of those that came with one read one in a turn of the
 * event loop. Node gives them as they come, as many as fit into the connection, and has the answers wait for each other: whoever sends thousands at once
 * would have them all under way, or those that are quickly answered one after the other before anybody else.
 */
export function createPipelines() {
  const lines = new WeakMap<Socket, Line>()
  let inAll = 0

  function begin(line: Line, socket: Socket, handle: () => void): void {
    line.begunAt = socket.bytesRead
    handle()
  }

  function wait(line: Line, request: IncomingMessage, before: ServerResponse, handle: () => void): void {
    const { socket } = request
    const bytes = bytesOf(request)
    line.waiting++
    line.waitingBytes += bytes
    inAll++
    const most = inAll > MANY_WAITING ? FEW_WAITING : MAX_WAITING
    if (line.waiting > most || line.waitingBytes > MAX_WAITING_BYTES) {
      socket.destroy()
      return
    }
    const go = () => {
      if (socket.destroyed) return
      inAll--
      line.waiting--
      line.waitingBytes -= bytes
      if (!socket.writableEnded) begin(line, socket, handle)
    }
    // Not before others have had their turn.
    if (isOver(before)) setImmediate(go)
    else before.once('close', () => setImmediate(go))
  }

  function lineOf(socket: Socket, last: ServerResponse): Line {
    const line: Line = { last, begunAt: -1, waiting: 0, waitingBytes: 0 }
    lines.set(socket, line)
    socket.once('close', () => {
      inAll -= line.waiting
      line.waiting = 0
    })
    return line
  }

  return {
    /** Begins now, or when all that came before it on its connection are answered. */
    inTurn(request: IncomingMessage, response: ServerResponse, handle: () => void): void {
      const { socket } = request
      // Node gives what it has read to its end.
      if (socket.destroyed) return
      const line = lines.get(socket)
      if (!line) {
        begin(lineOf(socket, response), socket, handle)
        return
      }
      const before = line.last
      line.last = response
      if (isOver(before) && line.begunAt !== socket.bytesRead) begin(line, socket, handle)
      else wait(line, request, before, handle)
    },
  }
}

const isOver = ({ writableFinished, closed }: ServerResponse): boolean => writableFinished || closed

/** What a request takes in memory while nobody reads its body. */
function bytesOf({ headers }: IncomingMessage): number {
  const announced = Number(headers['content-length'] ?? 0)
  return headers['transfer-encoding'] === undefined ? Math.min(announced, READ_AHEAD_BYTES) : READ_AHEAD_BYTES
}
