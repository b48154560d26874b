// Makes fixtures: the data of servers of earlier versions, which `upgrade.test.ts` starts today's server on.
//
//   node test/upgrades/make.ts              all that are missing
//   node test/upgrades/make.ts bb9d45f …    those of these commits, again
//
// For each commit in `shipped.ts` it checks that version out, starts it on an empty data directory with SQLite and with
// PostgreSQL, has the same story happen on it over HTTP and git, stops it (or kills it), and packs what is left:
//
//   <schema>-<commit>-<database>-<how it ended>.json.br   what is in it (manifest.ts)
//                                             .tar.br    the data directory
//                                             .sql.br    the PostgreSQL database
//
// The secrets in it open nothing else. It needs the network for `npm ci`, and GNU tar.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtempDisposable, readdir, readFile } from 'node:fs/promises'
import { homedir, hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createPostgres, startReceiver } from '@trellis/server/testing'
import { globalSetup, globalTeardown } from '../postgres-cluster.ts'
import { FIXTURES, fixtureFiles, writePacked } from './fixture.ts'
import type { Manifest } from './manifest.ts'
import { type Checkout, checkOut, startOldServer } from './old-server.ts'
import { dumpPostgres } from './postgres-dump.ts'
import { SHIPPED } from './shipped.ts'
import { recordAnswers } from './story/recording.ts'
import { tellStory } from './story/story.ts'
import { createTeller } from './story/teller.ts'

const run = promisify(execFile)
const BASE_URL = 'http://trellis.test'

type Kind = Pick<Manifest, 'database' | 'ended'>

async function makeFixture(commit: string, checkout: Checkout, { database, ended }: Kind): Promise<void> {
  await using made = new AsyncDisposableStack()
  const temporary = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-fixture-')))
  const data = join(temporary.path, 'data')
  await mkdir(data)
  const postgres = database === 'postgres' ? made.use(await createPostgres('empty')) : undefined
  const receiver = made.use(await startReceiver())
  const server = await startOldServer(checkout, { data, databaseUrl: postgres?.url, baseUrl: BASE_URL })
  made.defer(() => server.kill())

  const told: Parameters<typeof createTeller>[0]['told'] = {
    password: `throwaway ${randomBytes(6).toString('hex')}`,
    people: {},
    credentials: { operator: server.ownerKey },
    cookies: {},
    invites: {},
    repos: [],
    webhooks: [],
  }
  const { schema } = checkout
  const teller = createTeller({ server, schema, receiver, told, folder: join(temporary.path, 'clients') })
  await tellStory(teller)
  const recorded = await recordAnswers(teller)
  if (ended === 'killed') {
    // In the middle of a delivery.
    receiver.received.length = 0
    receiver.answer = () => {}
    if (told.webhooks.length > 0) await receiver.until((received) => received.length > 0)
    await server.kill()
  } else {
    await receiver.close()
    await server.stop()
  }
  const endedAt = Date.now()

  const dump = postgres?.url ? await dumpPostgres(postgres.url) : undefined
  if (dump) requireRows(dump, ended)
  await refuseTraces(data, dump ?? '', [hostname(), tmpdir(), homedir(), process.cwd()])
  const files = fixtureFiles(`${String(schema).padStart(4, '0')}-${commit}-${database}-${ended}`)
  const tar = ['--create', '--owner=0', '--group=0', '--sort=name', '--directory', data, '--file', '-', '.']
  await writePacked(files.data, (await run('tar', tar, { encoding: 'buffer', maxBuffer: 2 ** 26 })).stdout)
  if (dump) await writePacked(files.database, Buffer.from(dump))
  const manifest: Manifest = {
    commit,
    schema,
    database,
    ended,
    endedAt,
    baseUrl: BASE_URL,
    receiver: receiver.url,
    ...told,
    recorded,
  }
  await writePacked(files.manifest, Buffer.from(JSON.stringify(manifest)))
  console.log(files.manifest)
}

/** What holds rows for a moment only, or as long as a process lives. */
const PASSING = ['webhook_senders', 'workers', 'run_proposals']

/** A table without a row shows nothing. */
function requireRows(dump: string, ended: Manifest['ended']): void {
  const without = [...dump.matchAll(/^create table "(\w+)"/gm)]
    .map(([, table = '']) => table)
    .filter((table) => !dump.includes(`insert into "${table}"`))
    .filter((table) => !(ended === 'stopped' && PASSING.includes(table)))
  if (without.length > 0) throw new Error(`There is nothing in ${without.join(', ')}`)
}

/** Nothing of the machine it was made on is to be in a fixture. */
async function refuseTraces(data: string, dump: string, traces: readonly string[]): Promise<void> {
  const texts = [dump]
  for (const entry of await readdir(data, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) texts.push(await readFile(join(entry.parentPath, entry.name), 'latin1'))
  // A short name of a machine is in random bytes, too.
  for (const trace of traces)
    if (trace.length > 4 && trace !== 'localhost' && texts.some((text) => text.includes(trace)))
      throw new Error(`The fixture has ${trace} in it`)
}

async function main(commits: readonly string[]): Promise<void> {
  await mkdir(FIXTURES, { recursive: true })
  await globalSetup()
  try {
    for (const { commit, inFull } of SHIPPED) {
      const there = (await readdir(FIXTURES)).some((name) => name.includes(`-${commit}-`))
      if (commits.length > 0 ? !commits.includes(commit) : there) continue
      await using temporary = await mkdtempDisposable(join(tmpdir(), 'trellis-checkout-'))
      const checkout = await checkOut(commit, join(temporary.path, 'checkout'))
      try {
        for (const ended of inFull ? (['stopped', 'killed'] as const) : (['stopped'] as const))
          for (const database of ['sqlite', 'postgres'] as const)
            await makeFixture(commit, checkout, { database, ended })
      } finally {
        await checkout.remove()
      }
    }
  } finally {
    await globalTeardown()
  }
}

await main(process.argv.slice(2))
