import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { createRanges, isAddressRange, unmapped } from './addresses.ts'

/** An address that this server will not connect to on somebody's behalf. */
export class EgressRefused extends Error {}

interface Destination {
  url: URL
  /** The address that was judged; connect to this one, so that a second look-up cannot give another. */
  address: string
}

export type Egress = ReturnType<typeof createEgress>

// Everything that is not the public internet: this machine, its networks, the metadata services of clouds.
const FORBIDDEN_RANGES = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // The inner service of Azure's machines, at an address that looks public.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // An IPv4 address inside an IPv6 one, in all the ways there have been.
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

/** All addresses of a host. */
export type Resolve = (host: string) => Promise<LookupAddress[]>

/** A few threads do all look-ups: a name whose servers are silent may hold up one of them, not each in turn. */
function createResolver(): Resolve {
  const underWay = new Map<string, Promise<LookupAddress[]>>()
  return (host) => {
    const found =
      underWay.get(host) ??
      lookup(host, { all: true, verbatim: true }).finally(() => {
        underWay.delete(host)
      })
    underWay.set(host, found)
    return found
  }
}

/**
 * Judges where the server may connect when somebody else says where: imports, webhooks, extensions. `allow` lists the
 * hosts and ranges an operator trusts in spite of their addresses.
 */
export function createEgress(allow: readonly string[], resolve: Resolve = createResolver()) {
  const forbidden = createRanges(FORBIDDEN_RANGES)
  const allowedRanges = createRanges(allow.filter(isAddressRange))
  const hosts = allow.filter((entry) => !isAddressRange(entry))
  const allowedHosts = new Set(hosts.map((host) => host.toLowerCase()))

  const isAllowedHost = (host: string) => allowedHosts.has(host.toLowerCase())

  function isAllowedAddress(address: string): boolean {
    const plain = unmapped(address)
    return allowedRanges.contains(plain) || (isIP(plain) !== 0 && !forbidden.contains(plain))
  }

  /** The addresses to choose from when connecting to a host. Throws EgressRefused. */
  async function addressesOf(host: string): Promise<LookupAddress[]> {
    const addresses = isIP(host) ? [{ address: host, family: isIP(host) }] : await resolve(withoutRoot(host))
    // One bad address is enough: which of them is used would be up to chance.
    const bad = !isAllowedHost(host) && addresses.some(({ address }) => !isAllowedAddress(address))
    if (bad || addresses.length === 0) throw new EgressRefused(`${host} is not a public address`)
    return addresses
  }

  return {
    isTrusted: ({ hostname }: URL): boolean =>
      isAllowedHost(hostname) || allowedRanges.contains(unmapped(bare(hostname))),

    /** Looks the host up and gives the address to connect to. Throws EgressRefused. */
    async judge(url: URL): Promise<Destination> {
      const [first] = await addressesOf(bare(url.hostname))
      if (!first) throw new EgressRefused(`${url.hostname} has no address`)
      return { url, address: first.address }
    },

    /**
     * Whether a host that is written as an address is refused. Connecting to one takes no look-up, so `lookup` never
     * gets to see it.
     */
    isRefusedAddress: (host: string): boolean =>
      isIP(bare(host)) !== 0 && !isAllowedHost(host) && !isAllowedAddress(bare(host)),

    /** In place of `dns.lookup` when connecting: gives only addresses that were judged. */
    lookup: ((host, options, callback) => {
      addressesOf(host).then(
        (addresses) => {
          const [first] = addresses
          if (options.all) callback(null, addresses)
          else callback(null, first?.address ?? '', first?.family)
        },
        (error) => callback(error, '', 0),
      )
    }) satisfies LookupFunction,
  }
}

/** IPv6 addresses stand in brackets in a URL. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

/** `localhost.` is this machine for some resolvers and nothing for others; `localhost` is clear to all. */
const withoutRoot = (host: string): string => host.replace(/(^|\.)localhost\.$/i, '$1localhost')
