import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { largerWork } from '../../platform/larger-work.ts'
import { StartError } from '../../platform/start-error.ts'
import { GatheringMessage } from './incoming.ts'

const HEADERS_TIMEOUT_MS = 15_000
/** How often connections are looked at that have not sent all headers of a request, or nothing at all. */
const CHECK_EVERY_MS = 3_000
const KEEP_ALIVE_MS = 75_000
const IDLE_SWEEP_MS = 20
/** Beyond as many as wait to be let in, one that comes tries again after a second. The system may allow fewer. */
const BACKLOG = 4096

/** Starts to listen, so that the port is known; `serve` has to follow in the same turn of the event loop. */
export function openListener(host: string, port: number): Promise<Server> {
  const server: Server = createServer({
    IncomingMessage: GatheringMessage,
    requestTimeout: 0,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Without one the answer is ours to give.
    requireHostHeader: false,
  })
  // Of those who wait to be connected one is let in each turn.
  server.on('connection', () => largerWork.keepShort())
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(inWords(error) ?? error)
    server.once('error', refuse)
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off('error', refuse)
      resolve(server)
    })
  })
}

const remedies: Record<string, string> = {
  EADDRINUSE: 'another program listens there. Stop it',
  EACCES: 'this user may not. Choose a port above 1023',
  EADDRNOTAVAIL: 'this machine does not have that address. Choose one of its own',
  EAFNOSUPPORT: 'this machine has no addresses of that kind. Choose one of its own',
  EINVAL: 'this is no address to listen on. Choose one of this machine',
  ENOTFOUND: 'there is no such host. Choose an address of this machine',
  EAI_AGAIN: 'the name of the host cannot be looked up. Choose an address of this machine',
}

function inWords({ code = '', message }: NodeJS.ErrnoException): StartError | undefined {
  const remedy = remedies[code]
  return remedy
    ? new StartError(`Trellis cannot listen: ${remedy}, or set TRELLIS_LISTEN to another (${message}).`)
    : undefined
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Takes no new connections and waits for the answers under way, for `graceMs` at the most. */
export function closeGracefully(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection falls idle when its answer is out; its client would keep it open for the next request.
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
    const impatient = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(impatient)
      resolve()
    })
    server.closeIdleConnections()
  })
}
