import assert from 'node:assert/strict'
import type { Receiver } from '@trellis/server/testing'
import type { Json } from '../../../packages/server/src/testing/json.ts'
import { type Client, createClient } from '../../git/client.ts'
import type { Manifest } from '../manifest.ts'
import type { OldServer } from '../old-server.ts'

/** What a story leaves in the manifest. */
type Told = Pick<
  Manifest,
  'password' | 'people' | 'credentials' | 'cookies' | 'invites' | 'claim' | 'repos' | 'webhooks'
>

interface As {
  token?: string | undefined
  cookie?: string | undefined
  org?: string | undefined
}

interface Answer {
  status: number
  headers: Headers
  body: Json
}

/** What all parts of a story stand on. It speaks HTTP and git only: versions have nothing else in common. */
export interface Teller {
  server: OldServer
  schema: number
  receiver: Receiver
  told: Told
  post(path: string, body: object | URLSearchParams, as?: As): Promise<Answer>
  call(path: string, input: object, as?: As): Promise<Answer>
  /** The body of what must succeed. */
  ok(path: string, input: object, as?: As): Promise<Answer['body']>
  /** Ann, who owns the organization that most of it happens in. */
  acme(): As
  /** The client of ann, in a directory of its own. */
  client(name: string): Client
  remote(org: string, name: string): string
}

export function createTeller({
  server,
  schema,
  receiver,
  told,
  folder,
}: Pick<Teller, 'server' | 'schema' | 'receiver' | 'told'> & { folder: string }): Teller {
  async function post(path: string, body: object | URLSearchParams, as: As = {}): Promise<Answer> {
    const isForm = body instanceof URLSearchParams
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: {
        ...(!isForm && { 'content-type': 'application/json' }),
        ...(as.token && { authorization: `Bearer ${as.token}` }),
        ...(as.cookie && { cookie: as.cookie }),
        ...(as.org && { 'trellis-org': as.org }),
      },
      body: isForm ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
  }
  const teller: Teller = {
    server,
    schema,
    receiver,
    told,
    post,
    call: (path, input, as) => post(`/api/v1/${path}`, input, as),
    async ok(path, input, as) {
      const { status, body } = await teller.call(path, input, as)
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
      return body
    },
    acme: () => ({ token: told.credentials.ann, org: 'acme' }),
    client: (name) => createClient(`${folder}/${name}`, { token: told.credentials.ann }),
    remote: (org, name) => `${server.url}/git/${org}/${name}.git`,
  }
  return teller
}

/** What a browser would send from now on. */
export const cookiesIn = ({ headers }: Answer): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
