import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a server and its database. */
export interface DatabaseProxy extends AsyncDisposable {
  /** The way through it to where `url` leads. */
  url: string
  /** Lets nothing through, either way, and keeps all connections, as a database that is frozen does. */
  freeze(): void
  /** Ends all connections, and takes none. */
  refuse(): Promise<void>
  /** Lets everything through again, also what came meanwhile. */
  restore(): Promise<void>
}

export async function startProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', (chunk) => void to.write(chunk))
      if (isFrozen) from.pause()
    }
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  const through = new URL(url)
  through.host = `127.0.0.1:${port}`
  return {
    url: through.href,
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    refuse: close,
    async restore() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen(port)
    },
    [Symbol.asyncDispose]: close,
  }
}
