import type { Socket } from 'node:net'

/** Thousands of connections may be open, and each may send as much as a header may have. */
const MAX_KEPT = 2048

/**
 * A connection mostly sends the same header with all its requests. To take a credential apart and hash it took a
 * twentieth of a small request, a session's signature more: what was read from the last is kept with the connection.
 */
export function perConnection<T>(read: (header: string) => T): (socket: Socket, header: string) => T {
  const last = new WeakMap<Socket, { header: string; found: T }>()

  return (socket, header) => {
    const kept = last.get(socket)
    if (kept?.header === header) return kept.found
    const found = read(header)
    if (header.length <= MAX_KEPT) last.set(socket, { header, found })
    return found
  }
}
