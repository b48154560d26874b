// Requests of git put together by hand, as no client would send them.

import assert from 'node:assert/strict'
import type { Host } from './host.ts'

export const ZERO = '0'.repeat(40)

/** A pkt-line. */
export const pkt = (text: string | Uint8Array): Buffer => {
  const data = Buffer.from(text as string)
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, '0')), data])
}
export const FLUSH = Buffer.from('0000')

/** A pack without objects, which git sends when the remote has everything. */
export const EMPTY_PACK = Buffer.from(
  '5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e',
  'hex',
)

export interface RawCommand {
  ref: string | Uint8Array
  before?: string
  after?: string
}

/** The body of a push, as a client puts it together. */
export function pushBody(
  commands: readonly RawCommand[],
  pack: Uint8Array = EMPTY_PACK,
  capabilities = 'report-status',
): Buffer {
  const lines = commands.map(({ ref, before = ZERO, after = ZERO }, i) =>
    pkt(
      Buffer.concat([
        Buffer.from(`${before} ${after} `),
        Buffer.from(ref as string),
        Buffer.from(i === 0 ? `\0 ${capabilities}` : ''),
      ]),
    ),
  )
  return Buffer.concat([...lines, FLUSH, pack])
}

export async function post(
  host: Pick<Host, 'remote' | 'owner'>,
  name: string,
  service: 'git-upload-pack' | 'git-receive-pack',
  body: Uint8Array,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Buffer }> {
  const response = await fetch(`${host.remote(name)}/${service}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${host.owner.token}`,
      'content-type': `application/x-${service}-request`,
      ...headers,
    },
    body: Buffer.from(body),
  })
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
}

/** Pushes without a client and gives the report. */
export async function pushRaw(
  host: Pick<Host, 'remote' | 'owner'>,
  name: string,
  commands: readonly RawCommand[],
  pack?: Uint8Array,
) {
  const answer = await post(host, name, 'git-receive-pack', pushBody(commands, pack))
  assert.equal(answer.status, 200)
  return answer.body.toString()
}

/** Several at once, as an attacker would. */
export async function all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
    }),
  )
}
