import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

export const isLoopback = (address: string): boolean => contains(loopback, address)

/** Finds who is at the other end, believing `X-Forwarded-For` only as far as trusted proxies wrote it. */
export function createAddressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = blockListOf(trustedProxies)
  return (request) => {
    let address = unmapped(request.socket.remoteAddress ?? '')
    if (trustedProxies.length === 0) return address
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',')
    while (contains(trusted, address)) {
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

function blockListOf(entries: readonly string[]): BlockList {
  const blocks = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) blocks.addAddress(address, family)
    else blocks.addSubnet(address, Number(bits), family)
  }
  return blocks
}

function contains(blocks: BlockList, address: string): boolean {
  return address !== '' && blocks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

const unmapped = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address)
