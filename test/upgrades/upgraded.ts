// Today's server, started on what an earlier version has left.

import { cp, mkdtempDisposable } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  answerWith,
  createPostgres,
  type Receiver,
  startReceiver,
  startTestApp,
  type TestApp,
  useInSuite,
} from '@trellis/server/testing'
import { createScryptPasswords } from '../../packages/server/src/people/passwords.ts'
import { type Client, createClient } from '../git/client.ts'
import { type Fixture, readDump, unpackData } from './fixture.ts'
import { type Manifest, SINCE } from './manifest.ts'
import { loadPostgres, withPostgres } from './postgres-dump.ts'
import { liveAt } from './shifted-date.ts'

/** Late enough for all that waited for another attempt, and for others to have lost whatever they held. */
const LATER_MS = 60_000

export interface Pending {
  webhook: string
  id: string
}

export interface Upgraded {
  manifest: Manifest
  app: TestApp
  /** For commands beside the server. */
  place: { data: string; url: string | undefined }
  /** Where the webhooks now deliver to. It answers nothing before it is told to. */
  receiver: Receiver
  answerWebhooks(): void
  /** What waited to be delivered, in order: what has failed stands behind what has not been tried. */
  pending: Pending[]
  client(credential?: string): Client
  remote(org: string, name: string): string
}

/** Everything on it happens a minute after the fixture was made. */
export const useUpgraded = (fixture: Fixture, env: Record<string, string>): Upgraded =>
  useInSuite(async (made) => {
    const { manifest } = fixture
    const temporary = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-upgrade-')))
    const receiver = made.use(await startReceiver())
    const place =
      manifest.database === 'sqlite'
        ? { data: await unpackSqlite(fixture, temporary.path, receiver), url: undefined }
        : await unpackPostgres(fixture, temporary.path, receiver, made)
    const pending = manifest.schema >= SINCE.webhooks ? await listPending(place) : []
    const held: ServerResponse[] = []
    receiver.answer = (response) => held.push(response)

    made.use(liveAt(manifest.endedAt + LATER_MS))
    const passwords = made.adopt(createScryptPasswords(), (hashers) => hashers.close())
    const database = { ...UNUSED, url: place.url }
    const settings = {
      TRELLIS_DATA: place.data,
      TRELLIS_EGRESS_ALLOW: '127.0.0.1',
      // The receiver keeps them waiting until it is their turn in the test.
      TRELLIS_WEBHOOK_TIMEOUT_SECONDS: '300',
      ...env,
    }
    const app = made.use(await startTestApp(database, settings, { passwords }))
    let clients = 0
    return {
      manifest,
      app,
      place,
      receiver,
      pending,
      answerWebhooks() {
        receiver.answer = answerWith(200)
        for (const response of held) response.writeHead(200).end()
      },
      client: (credential = 'ann') =>
        createClient(join(temporary.path, `client-${++clients}`), {
          token: manifest.credentials[credential],
        }),
      remote: (org, name) => `${app.url}/git/${org}/${name}.git`,
    }
  })

/** A server finds its database by its settings. */
const UNUSED = {
  dialect: 'sqlite' as const,
  location: { sqlite: '' },
  async drop() {},
  async [Symbol.asyncDispose]() {},
}

/** The addresses that webhooks deliver to, and the column they are in. */
const ADDRESSES = [
  ['webhooks', 'url'],
  ['webhook_lines', 'origin'],
] as const

async function unpackSqlite(fixture: Fixture, folder: string, receiver: Receiver): Promise<string> {
  const { manifest } = fixture
  const data = join(folder, 'data')
  await unpackData(fixture, data)
  if (manifest.schema < SINCE.webhooks) return data
  using database = new DatabaseSync(join(data, 'trellis.db'))
  for (const [table, column] of ADDRESSES)
    database
      .prepare(`update ${table} set ${column} = replace(${column}, ?, ?)`)
      .run(manifest.receiver, receiver.url)
  if (manifest.ended === 'stopped') return data
  // Whoever closes the database writes its log into it. One that was killed has left the log behind.
  const killed = join(folder, 'killed')
  await cp(data, killed, { recursive: true })
  return killed
}

async function unpackPostgres(
  fixture: Fixture,
  folder: string,
  receiver: Receiver,
  made: AsyncDisposableStack,
): Promise<{ data: string; url: string }> {
  const { manifest } = fixture
  const data = join(folder, 'data')
  await unpackData(fixture, data)
  const { url } = made.use(await createPostgres('empty'))
  if (!url) throw new Error('no PostgreSQL')
  await loadPostgres(url, await readDump(fixture))
  if (manifest.schema >= SINCE.webhooks)
    await withPostgres(url, async (client) => {
      for (const [table, column] of ADDRESSES)
        await client.query(`update ${table} set ${column} = replace(${column}, $1, $2)`, [
          manifest.receiver,
          receiver.url,
        ])
    })
  return { data, url }
}

async function listPending({ data, url }: Upgraded['place']): Promise<Pending[]> {
  const query = `select webhook_name as webhook, id from webhook_deliveries
    where status = 'pending' order by webhook_id, due_at, seq`
  if (url) return withPostgres(url, async (client) => (await client.query(query)).rows)
  using database = new DatabaseSync(join(data, 'trellis.db'), { readOnly: true })
  return database.prepare(query).all() as unknown as Pending[]
}
