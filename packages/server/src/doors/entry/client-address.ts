import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { createRanges, isLoopback, unmapped } from '../../platform/addresses.ts'

/** Finds who is at the other end, believing `X-Forwarded-For` only as far as trusted proxies wrote it. */
export function createAddressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = createRanges(trustedProxies)
  return (request) => {
    let address = unmapped(request.socket.remoteAddress ?? '')
    if (trustedProxies.length === 0) return address
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',')
    while (trusted.contains(address)) {
      const hop = hops.pop()?.trim()
      if (!hop) break
      address = unmapped(hop)
    }
    return address
  }
}

/** What limits are counted against; undefined for callers on this machine, to whom none applies. */
export const limitedAddress = (address: string): string | undefined =>
  isLoopback(address) ? undefined : addressKey(address)

/** What one caller is likely to own: an IPv4 address, or the half of an IPv6 address that names the network. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail?.split(':').filter(Boolean) ?? []
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':')
}
