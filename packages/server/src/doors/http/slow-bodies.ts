import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { isWhole } from './body.ts'

interface SlowBodies {
  bytesPerSecond: number
  /** A pause of less than this is nobody's fault. */
  patienceMs: number
}

/** How a body has come along since it was looked at. */
interface Progress {
  bytes: number
  since: number
}

/**
 * Closes connections on which the body of a request arrives more slowly than it may, so that nobody holds what was set
 * aside for it for long. While the server itself does not read, nobody is slow.
 */
export function refuseSlowBodies(server: Server, { bytesPerSecond, patienceMs }: SlowBodies): void {
  // Almost every body is here with its headers, and is to cost nothing: looked at are those that are not here soon after.
  const latest = new Map<Socket, IncomingMessage>()
  const looked = new WeakMap<IncomingMessage, Progress>()

  server.on('connection', (socket: Socket) => socket.once('close', () => latest.delete(socket)))
  server.on('request', (request: IncomingMessage) => latest.set(request.socket, request))

  const watch = setInterval(() => {
    const now = performance.now()
    for (const [socket, request] of latest) {
      if (isWhole(request)) continue
      const { bytesRead } = socket
      const before = looked.get(request)
      const isReading = request.readableLength === 0
      if (before && isReading) {
        if (now - before.since < patienceMs) continue
        if (bytesRead - before.bytes < ((now - before.since) / 1000) * bytesPerSecond) socket.destroy()
      }
      looked.set(request, { bytes: bytesRead, since: now })
    }
  }, patienceMs / 4).unref()
  server.once('close', () => clearInterval(watch))
}
