import { type Egress, EgressRefused } from '../platform/egress.ts'
import { invalid } from '../platform/fault.ts'

/** A name server that does not answer must not keep the caller waiting. */
const LOOKUP_MS = 3_000

export function parseReceiver(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid(['url'], 'Give an http or https URL')
  if (url.username || url.password)
    throw invalid(['url'], 'A URL with credentials in it would show them; the signature tells who is calling')
  url.hash = ''
  return url
}

/**
 * Refuses a receiver on this machine or in its networks. Every connection is judged again when it is made, so a name
 * that is not known yet, or whose servers are slow, may stand.
 */
export async function requireReachable(egress: Egress, url: URL): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, LOOKUP_MS)
  const judged = egress.judge(url).catch((error: unknown) => {
    if (error instanceof EgressRefused)
      throw invalid(
        ['url'],
        `${url.hostname} is not a public address. Whoever runs this server can allow it.`,
      )
  })
  await Promise.race([judged, late]).finally(() => clearTimeout(timer))
}
