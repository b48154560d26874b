import { isIP } from 'node:net'
import { type Egress, EgressRefused } from '../platform/egress.ts'
import { invalid } from '../platform/fault.ts'

/** A name server that does not answer must not keep the caller waiting. */
const LOOKUP_MS = 3_000

/** What is wrong with the URL of a receiver, wherever it leads. */
export function receiverProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return 'Give an http or https URL'
  if (url.username || url.password)
    return 'A URL with credentials in it would show them; the signature tells who is calling'
  return undefined
}

export function parseReceiver(text: string): URL {
  const problem = receiverProblem(text)
  if (problem) throw invalid(['url'], problem)
  const url = new URL(text)
  url.hash = ''
  return url
}

/**
 * Why a receiver is refused that is on this machine or in its networks. Every connection is judged again when it is
 * made, so a name that is not known yet, or whose servers are slow, may stand.
 */
async function findRefusal(egress: Egress, url: URL, waitMs: number): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), waitMs)
  const judged = egress.judge(url).then(
    () => undefined,
    (error: unknown) =>
      error instanceof EgressRefused
        ? `${url.hostname} is not a public address. Whoever runs this server can allow it.`
        : undefined,
  )
  return Promise.race([judged, late]).finally(() => clearTimeout(timer))
}

export async function requireReachable(egress: Egress, url: URL): Promise<void> {
  const refusal = await findRefusal(egress, url, LOOKUP_MS)
  if (refusal) throw invalid(['url'], refusal)
}

/**
 * The same of many, by their hosts, in the time that one may take: names are looked up one after the other, because few threads do it
 * for everybody. Those it does not come to may stand as well.
 */
export async function listRefusals(
  egress: Egress,
  urls: readonly URL[],
  waitMs = LOOKUP_MS,
): Promise<ReadonlyMap<string, string>> {
  const ends = performance.now() + waitMs
  const refusals = new Map<string, string>()
  const hosts = [...new Map(urls.map((url) => [url.hostname, url])).values()]
  const judge = async (url: URL, patienceMs: number) => {
    const refusal = await findRefusal(egress, url, patienceMs)
    if (refusal) refusals.set(url.hostname, refusal)
  }
  // What is written as an address takes no look-up, and no time.
  const isAddress = ({ hostname }: URL) => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  for (const url of hosts.filter(isAddress)) await judge(url, waitMs)
  for (const url of hosts.filter((each) => !isAddress(each))) {
    const leftMs = ends - performance.now()
    if (leftMs <= 0) break
    await judge(url, leftMs)
  }
  return refusals
}
