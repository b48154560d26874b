import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The part of a connection that Node does not name in its types. */
interface Parsed extends Socket {
  parser?: { onIncoming(request: IncomingMessage, keepAlive: boolean): number } | null
}

/** An answer that the parser does not know ends its work. */
const STOP = -1

/**
 * Has the parser stop where the connection was ended. By itself it works off what one read has brought: 64 KB are two
 * thousand requests of an object each, for a connection that is gone since the hundredth.
 */
export function parseWhileOpen(socket: Parsed): void {
  const { parser } = socket
  if (!parser) return
  const take = parser.onIncoming
  parser.onIncoming = (request, keepAlive) => {
    const told = take(request, keepAlive)
    return socket.destroyed ? STOP : told
  }
}
