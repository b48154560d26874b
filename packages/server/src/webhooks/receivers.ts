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

/** The time that looking names up may take, as one end for all of them. */
async function withinTime<T>(waitMs: number, work: (late: Promise<'late'>) => Promise<T>): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(resolve, waitMs, 'late')
  return work(late).finally(() => clearTimeout(timer))
}

/**
 * Why a receiver is refused that is on this machine or in its networks. Every connection is judged again when it is
 * made, so a name that is not known yet, or whose servers are slow, may stand.
 */
const findRefusal = (egress: Egress, url: URL): Promise<string | undefined> =>
  egress.judge(url).then(
    () => undefined,
    (error: unknown) =>
      error instanceof EgressRefused
        ? `${url.hostname} is not a public address. Whoever runs this server can allow it with TRELLIS_EGRESS_ALLOW.`
        : undefined,
  )

export async function requireReachable(egress: Egress, url: URL): Promise<void> {
  const refusal = await withinTime(LOOKUP_MS, (late) => Promise.race([findRefusal(egress, url), late]))
  if (refusal && refusal !== 'late') throw invalid(['url'], refusal)
}

/**
 * The same of many, by their hosts, in the time that one may take: names are looked up one after the other, because few threads do it
 * for everybody. Those it does not come to may stand as well.
 */
export function listRefusals(
  egress: Egress,
  urls: readonly URL[],
  waitMs = LOOKUP_MS,
): Promise<ReadonlyMap<string, string>> {
  const hosts = [...new Map(urls.map((url) => [url.hostname, url])).values()]
  // What is written as an address takes no look-up, and no time.
  const isAddress = ({ hostname }: URL) => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  return withinTime(waitMs, async (late) => {
    const refusals = new Map<string, string>()
    for (const url of [...hosts.filter(isAddress), ...hosts.filter((each) => !isAddress(each))]) {
      const refusal = await Promise.race([findRefusal(egress, url), late])
      if (refusal === 'late') break
      if (refusal) refusals.set(url.hostname, refusal)
    }
    return refusals
  })
}
