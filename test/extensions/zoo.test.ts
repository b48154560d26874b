// Hostile extensions on a whole server: pushed, promoted and run. Each ends as it should, and leaves nothing behind.

import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { Run } from '@trellis/contract'
import { installBubblewrap, useInSuite } from '@trellis/server/testing'
import { createSandbox, startServer, until } from '../git/harness.ts'
import { type Keeper, openKeeper } from './zoo.ts'
import * as animals from './zoo-animals.ts'
import { filesBelow, watchProcesses } from './zoo-traces.ts'

const TRIES = 4
const MARK = 'known-to-the-server-alone-0123456789'

describe('a zoo of hostile extensions', () => {
  const zoo = useInSuite(async (made) => {
    await installBubblewrap()
    const sandbox = createSandbox()
    made.defer(sandbox.remove)
    const [data, temporary] = [sandbox.path('data'), sandbox.path('tmp')]
    await mkdir(temporary)
    const server = await startServer(data, {
      ...animals.ZOO_LIMITS,
      TMPDIR: temporary,
      TRELLIS_SECRET: MARK,
      TRELLIS_LOG_LEVEL: 'warn',
      TRELLIS_RATE_PER_SECOND: '100000',
      TRELLIS_EGRESS_ALLOW: '127.0.0.2',
    })
    made.defer(server.kill)
    const seen = watchProcesses(server.pid)
    made.defer(seen.stop)
    const keep = (name: string, cage: animals.Cage, files: Record<string, string> = {}) =>
      openKeeper(server, sandbox, { name, files: { ...animals.filesOfCage(cage), ...files } })
    return { server, data, temporary, seen, keep }
  })

  /** On a machine that is busy anything may be late. What is not about time is tried again then. */
  async function runOf(keeper: Keeper, name: string, input: object = {}): Promise<Run> {
    for (let tries = 1; ; tries++) {
      const run = await keeper.ended(await keeper.dispatch(name, input))
      if (tries === TRIES || !animals.LATE.test(run.error ?? '')) return run
    }
  }

  async function letOut(keeper: Keeper, cage: animals.Cage, name: string, input: object = {}): Promise<void> {
    const { error, output } = cage[name] ?? {}
    const isAboutTime = error?.test('It took longer than 4 s') ?? false
    const run = isAboutTime
      ? await keeper.ended(await keeper.dispatch(name))
      : await runOf(keeper, name, input)
    assert.equal(run.status, error ? 'failed' : 'succeeded', `${name}: ${run.error}`)
    // Where it was late each time, that is how it ended: what else would have ended it is proven for each runtime alone.
    if (error) assert.match(run.error ?? '', animals.LATE.test(run.error ?? '') ? animals.LATE : error, name)
    else assert.deepEqual(run.output, output, name)
    const { items, nextCursor } = await keeper.ok('runs/logs', { id: run.id, limit: 250 })
    assert.ok(nextCursor === null && JSON.stringify(items).length < 100_000, `${name} said too much`)
  }

  /** What was said is told line by line, whatever is in it. */
  async function checkEscapes(keeper: Keeper): Promise<void> {
    const { items } = await keeper.ok('runs/list', { name: 'zoo', extension: 'escapes' })
    const tail = await keeper.tail(items[0].id)
    const told = tail.split('\n\n').filter((one) => one.startsWith('id:'))
    assert.deepEqual(
      told.map((one) => JSON.parse(one.split('\ndata: ')[1] ?? '').type),
      ['run.queued', 'run.started', 'run.log', 'run.succeeded'],
    )
  }

  describe('each ends within its limits, and gets nothing', { concurrency: true }, () => {
    const { LOOPS, MORE_LOOPS, BOMBS, TALKERS, CLIMBERS, BURROWERS } = animals

    for (const [name, cage] of Object.entries({ LOOPS, MORE_LOOPS, BOMBS, TALKERS }))
      it(Object.keys(cage).join(', '), async () => {
        const keeper = await zoo.keep(name.toLowerCase(), cage)
        for (const animal of Object.keys(cage)) await letOut(keeper, cage, animal)
        if (cage === TALKERS) await checkEscapes(keeper)
      })

    it(Object.keys(CLIMBERS).join(', '), async () => {
      const keeper = await zoo.keep('climbers', CLIMBERS, TASKS)
      const run = async (name: keyof typeof CLIMBERS, input: object = {}) => {
        const { output, error } = await runOf(keeper, name, input)
        assert.equal(error, null)
        return output
      }

      await using guide = await startGuide(zoo.server.url)
      const answers = await run('follows-redirects', { urls: Object.keys(guide.ways) })
      assert.deepEqual(answers, guide.ways)

      const other = await zoo.keep('others', {}, { 'private.txt': 'private' })
      const tried = await run('looks-at-others', { oid: other.oid, row: `rec_${'0'.repeat(26)}` })
      assert.deepEqual(tried, [...Array(3).fill('GIT_OBJECT_NOT_FOUND'), 'RECORD_NOT_FOUND', 'BAD_REQUEST'])

      const flood = await keeper.ended(await keeper.dispatch('floods-records'))
      assert.match(flood.error ?? '', animals.LATE)

      const id = await keeper.dispatch('goes-on-when-cancelled')
      const events = async (): Promise<string[]> => {
        const { items } = await keeper.ok('events/list', { name: 'zoo', order: 'newest', limit: 100 })
        return items.map(({ type }: { type: string }) => type)
      }
      await until('it has begun', async () => (await events()).includes('zoo.begun'))
      await keeper.ok('runs/cancel', { id })
      assert.equal((await keeper.ended(id)).status, 'cancelled')
      const told = await events()
      assert.ok(!told.slice(0, told.indexOf('run.cancelled')).includes('zoo.late'))
    })

    it(Object.keys(BURROWERS).join(', '), async (t) => {
      const keeper = await zoo.keep('burrowers', BURROWERS)
      const { items } = await keeper.ok('extensions/list', { name: 'zoo' })
      if (!items[0].dispatchable) return t.skip('There is no sandbox here')
      const { pid, url } = zoo.server
      const input = { data: zoo.data, mark: MARK, pid, port: Number(new URL(url).port) }
      await Promise.all(Object.keys(BURROWERS).map((animal) => letOut(keeper, BURROWERS, animal, input)))
    })
  })

  it('and nothing of them is left', async () => {
    const { server, data, temporary, seen } = zoo
    const isSandboxed = (command: string) => /\/run\/trellis\/|^sleep|^yes/.test(command)
    seen.look()
    await until('sandboxes have gone', () => !seen.left().some(isSandboxed))
    await server.stop()
    await until('all processes have gone', () => seen.left().length === 0)
    assert.deepEqual(seen.groupsLeft(), [])
    assert.deepEqual([...filesBelow(temporary), ...filesBelow(join(data, 'scratch'))], [])
    using database = new DatabaseSync(join(data, 'trellis.db'), { readOnly: true })
    const rows = (sql: string) => database.prepare(sql).all()
    assert.deepEqual(rows(`select id, extension from runs where status in ('queued', 'running')`), [])
    assert.deepEqual(rows('select org_id from run_queues where ready <> 0 or running <> 0'), [])
    assert.deepEqual(rows(`select run_id from run_triggers where run_id <> ''`), [])
  })
})

const TASKS = {
  'extensions/task/index.ts': 'export default () => {}\n',
  'extensions/task/extension.json': JSON.stringify({
    ...{ version: 1, name: 'task', record: { name: 'task', fields: { title: { type: 'string' } } } },
  }),
}

/** A host that may be reached, and leads to where nobody may go. */
async function startGuide(forbidden: string) {
  const leads: Record<string, string> = {
    '/to-metadata': 'http://169.254.169.254/latest/meta-data/',
    '/to-server': forbidden,
    '/to-localhost': forbidden.replace('127.0.0.1', 'localhost'),
    '/to-file': 'file:///etc/passwd',
    '/to-stranger': 'http://example.com/',
    '/to-itself': '/to-itself',
  }
  const server = createServer(({ url = '' }, response) => {
    const location = leads[url]
    if (location) response.writeHead(302, { location }).end()
    else if (url === '/endless')
      (function more() {
        while (response.write(Buffer.alloc(2 ** 16)));
        response.once('drain', more)
      })()
    else response.end('here')
  })
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.2', () => resolve((server.address() as { port: number }).port)),
  )
  const here = `http://127.0.0.2:${port}`
  const failed = (reason: string) => `FETCH_FAILED: fetch failed: ${reason}`
  const notPublic = failed('the address is not a public one')
  const notGranted = (host: string) => `FORBIDDEN: net:${host} was not granted to this extension`
  return {
    ways: {
      [here]: '200',
      [`${here}/to-metadata`]: notPublic,
      [`${here}/to-server`]: notPublic,
      [`${here}/to-localhost`]: notPublic,
      [`${here}/to-file`]: 'BAD_REQUEST: Bad request: 0.url: Only http and https URLs can be fetched',
      [`${here}/to-stranger`]: notGranted('example.com'),
      [`${here}/to-itself`]: failed('there are more than 5 redirects'),
      [`${here}/endless`]: failed('the answer has more than 8388608 bytes'),
      [forbidden]: notPublic,
      'http://169.254.169.254/': notPublic,
      'http://2130706433/': notPublic,
      'http://[::1]/': notGranted('[::1]'),
      'http://0/': notGranted('0.0.0.0'),
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
