import { get, type IncomingMessage } from 'node:http'
import type { Row } from './measure.ts'
import { runScript, runTrellis } from './processes.ts'

const TAILS = 1_000
const IDLE_MS = 20_000
const SETTLE_MS = 3_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What a thousand tails cost on which nothing happens: each of another log, against bare connections held open. */
export async function idleTails(): Promise<Row> {
  const trellis = await runTrellis()
  const bare = await runScript('bench/peers/idle-streams.ts')
  try {
    const headers = { authorization: `Bearer ${trellis.key}` }
    for (let i = 0; i < TAILS; i++)
      await fetch(`${trellis.url}/api/v1/repos/create`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `log-${i}` }),
      })
    const ours = await cost(trellis.url, (i) => `${trellis.url}/api/v1/events/tail?name=log-${i}`, headers)
    const theirs = await cost(bare.url, () => `${bare.url}/stream`, {})
    const shown = ({ kilobytes, cpu }: Cost) => `${kilobytes.toFixed(1)} KB each, ${cpu.toFixed(2)} % CPU`
    return {
      work: `${TAILS} idle tails, each of another log`,
      peer: 'a bare server that holds as many connections and beats every 15 s',
      ours: shown(ours),
      theirs: shown(theirs),
      ratio: theirs.kilobytes / ours.kilobytes,
    }
  } finally {
    await trellis.stop()
    await bare.stop()
  }
}

interface Cost {
  kilobytes: number
  cpu: number
}

async function cost(
  server: string,
  urlOf: (i: number) => string,
  headers: Record<string, string>,
): Promise<Cost> {
  await sleep(SETTLE_MS)
  const first = await usedBy(server)
  await sleep(IDLE_MS)
  const before = await usedBy(server)
  const open: IncomingMessage[] = []
  for (let i = 0; i < TAILS; i++) open.push(await opened(urlOf(i), headers))
  await sleep(SETTLE_MS)
  const begun = await usedBy(server)
  await sleep(IDLE_MS)
  const after = await usedBy(server)
  for (const response of open) response.destroy()
  return {
    kilobytes: (after.bytes - before.bytes) / 1024 / TAILS,
    // On top of what the server does when nobody listens.
    cpu: ((after.seconds - begun.seconds - (before.seconds - first.seconds)) / (IDLE_MS / 1000)) * 100,
  }
}

function opened(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`))
      response.resume()
      response.on('error', () => {})
      resolve(response)
    }).on('error', reject)
  })
}

async function usedBy(url: string): Promise<{ bytes: number; seconds: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const numberOf = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
  return {
    bytes: numberOf('trellis_process_resident_memory_bytes'),
    seconds: numberOf('trellis_process_cpu_seconds_total'),
  }
}
