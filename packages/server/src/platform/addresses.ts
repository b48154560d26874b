import { BlockList, isIP } from 'node:net'

/** Internet addresses that belong together, of both families. */
interface Ranges {
  /** False for what is no address at all. */
  contains(address: string): boolean
}

/** Whether this is an address, or a range of them such as 10.0.0.0/8. */
export function isAddressRange(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/')
  if (rest.length > 0 || isIP(address) === 0) return false
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= widthOf(address))
}

/** Every entry must be an address or a range. */
export function createRanges(entries: readonly string[]): Ranges {
  const blocks = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    blocks.addSubnet(address, Number(bits ?? widthOf(address)), familyOf(address))
  }
  return { contains: (address) => isIP(address) !== 0 && blocks.check(address, familyOf(address)) }
}

const loopback = createRanges(['127.0.0.0/8', '::1'])

/** Whether this is the machine the server runs on. */
export const isLoopback = (address: string): boolean => loopback.contains(address)

/** ::ffff:127.0.0.1 is 127.0.0.1, also when it is written ::ffff:7f00:1. */
export function unmapped(address: string): string {
  if (!address.startsWith('::')) return address
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (dotted) return dotted
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? []
  if (!high || !low) return address
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [a >> 8, a & 255, b >> 8, b & 255].join('.')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

function widthOf(address: string): number {
  return isIP(address) === 6 ? 128 : 32
}
