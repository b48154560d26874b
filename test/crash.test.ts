import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { it } from 'node:test'
import type { Repo } from '@trellis/contract'
import { safe, type TrellisClient } from '@trellis/contract/client'
import { onEachDatabase } from '@trellis/server/testing'
import { ownerKeyIn, type ServerProcess, startServer, withDataDirectory } from './server-process.ts'

const ROUNDS = 2
const CONNECTIONS = 6

/** What a client was told of a repository: how many changes to it were acknowledged. */
type Acknowledged = Map<string, number>

onEachDatabase('a server that is killed in the middle of its work', (create) => {
  it('has kept everything it acknowledged, each with its event, when it starts again', async (t) => {
    const database = await create()
    try {
      await withDataDirectory(async (data) => {
        const env = { TRELLIS_DATABASE_URL: database.url, TRELLIS_DATABASE_POOL: '5' }
        const acknowledged: Acknowledged = new Map()
        let server = await startServer(data, env)
        const key = await ownerKeyIn(data)
        for (let round = 1; round <= ROUNDS; round++) {
          const killAfter = acknowledged.size + randomInt(20, 120)
          await workUntilKilled(server, key, `round-${round}`, acknowledged, killAfter)
          server = await startServer(data, env)
          const kept = await check(server.client(key), acknowledged)
          t.diagnostic(`round ${round}: ${acknowledged.size} acknowledged, ${kept} kept`)
        }
        assert.equal(await server.stop(), 0)
      })
    } finally {
      await database.drop()
    }
  })
})

/** Makes and changes repositories over several connections, and kills the server in the middle of that. */
async function workUntilKilled(
  server: ServerProcess,
  key: string,
  prefix: string,
  acknowledged: Acknowledged,
  killAfter: number,
): Promise<void> {
  const trellis = server.client(key)
  let killed: Promise<void> | undefined
  const worker = async (connection: number) => {
    for (let i = 0; !killed; i++) {
      const name = `${prefix}-${connection}-${i}`
      const { isSuccess } = await safe(trellis.repos.create({ name }))
      if (!isSuccess) break
      acknowledged.set(name, 1)
      if (acknowledged.size >= killAfter) killed ??= server.kill()
      const { isSuccess: changed } = await safe(trellis.repos.update({ name, defaultBranch: 'next' }))
      if (!changed) break
      acknowledged.set(name, 2)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => worker(connection)))
  assert.ok(killed, 'the server ended by itself')
  await killed
}

/** Holds everything there is against what was acknowledged. */
async function check(trellis: TrellisClient, acknowledged: Acknowledged): Promise<number> {
  const repos = new Map<string, Repo>()
  let cursor: string | undefined
  do {
    const page = await trellis.repos.list({ limit: 100, ...(cursor && { cursor }) })
    for (const repo of page.items) repos.set(repo.name, repo)
    cursor = page.nextCursor ?? undefined
  } while (cursor)

  for (const name of acknowledged.keys()) assert.ok(repos.has(name), `${name} was acknowledged and is gone`)
  // What was under way when the server was killed may have been kept or not; nothing else may have been added.
  assert.ok(repos.size <= acknowledged.size + CONNECTIONS * ROUNDS)

  const { items: orgs } = await trellis.orgs.list({})
  assert.equal(orgs[0]?.repoCount, repos.size)

  const names = [...repos.keys()]
  await Promise.all(
    Array.from({ length: 8 }, async (_, worker) => {
      for (let i = worker; i < names.length; i += 8)
        await checkEvents(trellis, repos.get(names[i] ?? ''), acknowledged)
    }),
  )
  const { items: log } = await trellis.events.list({ limit: 250 })
  assert.deepEqual(
    log.map(({ seq }) => seq),
    log.map((_, i) => i + 1),
  )
  return repos.size
}

/** The change and its event are one: either both are there, or neither. */
async function checkEvents(
  trellis: TrellisClient,
  repo: Repo | undefined,
  acknowledged: Acknowledged,
): Promise<void> {
  assert.ok(repo)
  const { items } = await trellis.events.list({ name: repo.name })
  const told = items.map(({ seq, type }) => `${seq} ${type}`)
  const whole = ['1 repo.created', '2 repo.updated']
  assert.deepEqual(told, repo.defaultBranch === 'next' ? whole : whole.slice(0, 1), repo.name)
  assert.ok(
    told.length >= (acknowledged.get(repo.name) ?? 0),
    `an acknowledged change of ${repo.name} is gone`,
  )
}
