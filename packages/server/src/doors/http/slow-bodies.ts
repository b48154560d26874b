import type { IncomingMessage, Server } from 'node:http'
import { hasArrived } from './body.ts'

interface SlowBodies {
  bytesPerSecond: number
  /** A pause of less than this is nobody's fault. */
  patienceMs: number
}

interface Progress {
  bytes: number
  since: number
}

/**
 * Closes connections on which the body of a request arrives more slowly than it may, so that nobody holds what was set
 * aside for it for long. While the server itself does not read, nobody is slow.
 */
export function refuseSlowBodies(server: Server, { bytesPerSecond, patienceMs }: SlowBodies): void {
  const unfinished = new Map<IncomingMessage, Progress>()

  server.on('request', (request: IncomingMessage) => {
    const { headers } = request
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
    if (hasArrived(request)) return
    unfinished.set(request, { bytes: request.socket.bytesRead, since: performance.now() })
    const forget = () => unfinished.delete(request)
    request.once('end', forget).once('close', forget)
  })

  const watch = setInterval(() => {
    const now = performance.now()
    for (const [request, { bytes, since }] of unfinished) {
      const { bytesRead } = request.socket
      const isReading = request.readableLength === 0 && !request.complete
      if (isReading && now - since < patienceMs) continue
      if (isReading && bytesRead - bytes < ((now - since) / 1000) * bytesPerSecond) request.socket.destroy()
      else unfinished.set(request, { bytes: bytesRead, since: now })
    }
  }, patienceMs / 4).unref()
  server.once('close', () => clearInterval(watch))
}
