import { load, post } from './load.ts'
import { median, perSecond, type Row } from './measure.ts'
import { runTrellis } from './processes.ts'

/** Many short ones: what else the machine does is to fall on all. */
const ROUNDS = 41
const SECONDS = 0.2

/** A small call with the session of a person, as a bearer and as a cookie, against the same with a key of theirs. */
export async function sessionAgainstKey(): Promise<Row> {
  const trellis = await runTrellis()
  try {
    const { token, cookie } = await signUp(trellis.url)
    const session = { authorization: `Bearer ${token}` }
    const key = String((await call(trellis.url, 'keys/create', { name: 'bench' }, session)).secret)
    await call(trellis.url, 'repos/create', { name: 'small' }, session)
    const ways = [{ authorization: `Bearer ${key}` }, session, { cookie }].map((headers) => {
      const request = post('/api/v1/repos/get', { name: 'small' }, headers)
      return () => load({ port: trellis.port, connections: 8, seconds: SECONDS, next: () => request })
    })
    const rates = ways.map((): number[] => [])
    // The first rounds, in which Node compiles what runs, say little.
    for (let round = -10; round < ROUNDS; round++)
      for (const [i, way] of ways.entries()) {
        const rate = await way()
        if (round >= 0) rates[i]?.push(rate)
      }
    const [byKey = Number.NaN, ...bySession] = rates.map(median)
    const slower = Math.min(...bySession)
    return {
      work: 'repos/get with a session, the slower of bearer and cookie',
      peer: 'the same with a key',
      ours: perSecond(slower),
      theirs: perSecond(byKey),
      ratio: slower / byKey,
      goal: 0.9,
    }
  } finally {
    await trellis.stop()
  }
}

async function signUp(url: string): Promise<{ token: string; cookie: string }> {
  const response = await fetch(`${url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bench@example.com', name: 'Bench', password: 'correct horse battery' }),
  })
  if (!response.ok) throw new Error(await response.text())
  const { token } = (await response.json()) as { token: string }
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return { token, cookie }
}

async function call(
  url: string,
  operation: string,
  input: unknown,
  headers: Record<string, string>,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}/api/v1/${operation}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  if (!response.ok) throw new Error(`${operation} answered ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}
