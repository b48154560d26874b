import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { isWhole } from './body.ts'

interface SlowBodies {
  bytesPerSecond: number
  /** A pause of less than this is nobody's fault. */
  patienceMs: number
}

/** How the latest request on a connection comes along. */
interface Progress {
  request: IncomingMessage
  bytes: number
  since: number
}

/**
 * Closes connections on which the body of a request arrives more slowly than it may, so that nobody holds what was set
 * aside for it for long. While the server itself does not read, nobody is slow.
 */
export function refuseSlowBodies(server: Server, { bytesPerSecond, patienceMs }: SlowBodies): void {
  // By connection, not by request: almost every body is here with its headers, and is to cost nothing.
  const latest = new Map<Socket, Progress>()

  server.on('request', (request: IncomingMessage) => {
    const { socket } = request
    const progress = { request, bytes: socket.bytesRead, since: performance.now() }
    if (!latest.has(socket)) socket.once('close', () => latest.delete(socket))
    latest.set(socket, progress)
  })

  const watch = setInterval(() => {
    const now = performance.now()
    for (const [socket, progress] of latest) {
      const { request, bytes, since } = progress
      if (isWhole(request)) continue
      const { bytesRead } = socket
      const isReading = request.readableLength === 0
      if (isReading && now - since < patienceMs) continue
      if (isReading && bytesRead - bytes < ((now - since) / 1000) * bytesPerSecond) socket.destroy()
      else latest.set(socket, { request, bytes: bytesRead, since: now })
    }
  }, patienceMs / 4).unref()
  server.once('close', () => clearInterval(watch))
}
