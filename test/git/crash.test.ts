// A server that is killed while clients push: what a client was told is there, and what is there is whole.

import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { createPostgres, createSqlite, type TestDatabase } from '@trellis/server/testing'
import type { Json } from '../../packages/server/src/testing/json.ts'
import {
  type Client,
  createClient,
  createSandbox,
  type Ran,
  type Sandbox,
  type ServerProcess,
  startServer,
  until,
  withSmallHistory,
} from './harness.ts'

/** Set CRASH_ROUNDS to try it for longer, and CRASH_LOG to a file to follow it. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 6)
const CLIENTS = 4

interface Pusher {
  client: Client
  branch: string
  /** What the server said it took. */
  accepted: string | undefined
  /** What was sent after that without hearing how it ended. */
  unsure: string[]
}

const log = (line: string) => process.env.CRASH_LOG && appendFileSync(process.env.CRASH_LOG, `${line}\n`)

for (const [title, create, rounds] of [
  ['SQLite', createSqlite, Math.ceil(ROUNDS / 2)],
  ['PostgreSQL', createPostgres, Math.floor(ROUNDS / 2)],
] as const)
  describe(`killing the server (${title})`, () => {
    let sandbox: Sandbox
    let database: TestDatabase
    let data: string
    let server: ServerProcess
    let pushers: Pusher[]
    let accepted = 0
    let cut = 0

    before(async () => {
      sandbox = createSandbox()
      database = await create()
      data = sandbox.path('data')
      server = await start()
      const made = await server.post('repos/create', { name: 'shaken' })
      assert.equal(made.status, 200)
      const first = await withSmallHistory(createClient(sandbox.path('first'), { token: server.key }))
      await first.run('push', '-q', server.remote('shaken'), 'main')
      pushers = await Promise.all(
        Array.from({ length: CLIENTS }, async (_, i) => {
          const client = createClient(sandbox.path('pusher'), { token: server.key })
          await client.run('clone', '-q', server.remote('shaken'), '.')
          return { client, branch: `refs/heads/p${i}`, accepted: undefined, unsure: [] }
        }),
      )
    })
    after(async () => {
      await server.kill()
      await database.drop()
      sandbox.remove()
    })

    const start = () =>
      startServer(data, {
        TRELLIS_LOG_LEVEL: 'error',
        ...(database.url && { TRELLIS_DATABASE_URL: database.url, TRELLIS_DATABASE_POOL: '4' }),
      })

    it(`loses nothing and tears nothing in ${rounds} rounds`, { timeout: 3_600_000 }, async () => {
      for (let round = 0; round < rounds; round++) {
        let killed = false
        const pushing = pushers.map((pusher, i) => keepPushing(pusher, `${round}-${i}`, () => killed))
        const earlier = accepted
        await until('a push is accepted', () => accepted > earlier)
        await new Promise((wake) => setTimeout(wake, Math.random() * 900))
        await server.kill()
        killed = true
        await Promise.all(pushing)
        server = await start()
        await check()
        log(`${title} round ${round + 1} of ${rounds}: ${accepted} accepted, ${cut} cut off`)
      }
      assert.ok(accepted > 0, 'some pushes were accepted')
    })

    /** Pushes commit after commit, and moves a tag and a second branch along, until the server is gone. */
    async function keepPushing(pusher: Pusher, name: string, isOver: () => boolean): Promise<void> {
      const { client, branch } = pusher
      for (let i = 0; !isOver(); i++) {
        await client.run('commit', '-q', '--allow-empty', '-m', `${name} ${i}`)
        const head = await client.rev('HEAD')
        pusher.unsure.push(head)
        const pushed = await client.attempt(
          'push',
          '--porcelain',
          '--force',
          '--atomic',
          server.remote('shaken'),
          `HEAD:${branch}`,
          `HEAD:${branch}-twin`,
        )
        if (wasAccepted(pushed, branch)) {
          accepted++
          pusher.accepted = head
          pusher.unsure = []
        } else {
          cut++
          // Being refused would be another fault than being cut off.
          assert.doesNotMatch(pushed.stdout.toString() + pushed.stderr, /^!.*\[remote rejected\]/m)
        }
      }
    }

    const wasAccepted = ({ code, stdout }: Ran, branch: string) =>
      code === 0 && stdout.toString().includes(`:${branch}\t`)

    async function check(): Promise<void> {
      const mirror = createClient(sandbox.path('mirror'), { token: server.key })
      await mirror.run('clone', '-q', '--mirror', server.remote('shaken'), '.')
      await mirror.run('fsck', '--full', '--strict')
      const text = await mirror.run('for-each-ref', '--format=%(refname) %(objectname)')
      const refs = Object.fromEntries(text.split('\n').map((line) => line.split(' ') as [string, string]))

      for (const pusher of pushers) {
        const { accepted: known, unsure, branch } = pusher
        const possible = [known, ...unsure]
        assert.ok(possible.includes(refs[branch]), `${branch} is at ${refs[branch]}, not one of ${possible}`)
        assert.equal(refs[`${branch}-twin`], refs[branch], 'an atomic push moved one ref of two')
        pusher.accepted = refs[branch]
        pusher.unsure = []
      }
      assert.deepEqual(await replay(), refs)
      await rm(mirror.dir, { recursive: true })
    }

    /** The refs, as the log of pushes tells them; and the log has no gap. */
    async function replay(): Promise<Record<string, string>> {
      const refs: Record<string, string> = {}
      let since = 0
      for (;;) {
        const { status, body } = await server.post('events/list', { name: 'shaken', since, limit: 250 })
        assert.equal(status, 200)
        const { items } = body as { items: { seq: number; type: string; subject: string; payload: Json }[] }
        for (const { seq, type, subject, payload } of items) {
          assert.equal(seq, ++since)
          if (type !== 'git.push') continue
          assert.equal(payload.before, refs[subject] ?? null)
          if (payload.after) refs[subject] = payload.after
          else delete refs[subject]
        }
        if (items.length < 250) return refs
      }
    }
  })
