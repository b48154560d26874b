import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** More than any client sends that waits for answers. */
const MAX_WAITING = 100

/**
 * Has the requests of a connection handled one after the other. Node gives them as they come, as many as fit into the
 * connection, and has the answers wait for each other: whoever sends thousands at once would have them all under way.
 */
export function createPipelines() {
  /** The answer that is to be the last on a connection, as far as is known. */
  const lastOn = new WeakMap<Socket, ServerResponse>()
  const waitingOn = new WeakMap<Socket, number>()

  function wait(socket: Socket, before: ServerResponse, begin: () => void): void {
    const waiting = (waitingOn.get(socket) ?? 0) + 1
    if (waiting > MAX_WAITING) {
      socket.destroy()
      return
    }
    waitingOn.set(socket, waiting)
    const go = () => {
      waitingOn.set(socket, (waitingOn.get(socket) ?? 1) - 1)
      if (!socket.destroyed && !socket.writableEnded) begin()
    }
    // Not before others have had their turn.
    before.once('close', () => setImmediate(go))
  }

  return {
    /** Begins now, or when all that came before it on its connection are answered. */
    inTurn(socket: Socket, response: ServerResponse, begin: () => void): void {
      // Node gives what it has read to its end.
      if (socket.destroyed) return
      const before = lastOn.get(socket)
      lastOn.set(socket, response)
      if (!before || before.writableFinished || before.closed) begin()
      else wait(socket, before, begin)
    },
  }
}
