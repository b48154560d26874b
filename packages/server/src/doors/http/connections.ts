import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { unmapped } from '../../platform/addresses.ts'

interface ConnectionLimits {
  /** Open at once, in all. */
  total: number
  perAddress: number
}

interface Bounds {
  limits: ConnectionLimits
  /** Addresses that speak for many, or for the machine itself. */
  isExempt(address: string): boolean
  onRefused(): void
}

/** Closes connections that are too many, before anything is read from them. */
export function boundConnections(server: Server, { limits, isExempt, onRefused }: Bounds): void {
  const open = new Map<string, number>()
  server.maxConnections = limits.total
  server.on('drop', onRefused)
  server.on('connection', (socket: Socket) => {
    const address = unmapped(socket.remoteAddress ?? '')
    if (isExempt(address)) return
    const count = open.get(address) ?? 0
    if (count >= limits.perAddress) {
      onRefused()
      socket.destroy()
      return
    }
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}
