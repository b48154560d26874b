import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, it } from 'node:test'
import type { NumberedEvent } from '@trellis/contract'
import { onEachDatabase, openTail, sessionCookieOf, startTestApp, useRuns } from '../../testing/index.ts'
import { createStream } from './stream.ts'

const gates = new Map<string, PromiseWithResolvers<void>>()
const gateOf = (name: string) => {
  const gate = gates.get(name) ?? Promise.withResolvers<void>()
  gates.set(name, gate)
  return gate
}
Object.assign(globalThis, { atTailGate: (name: string) => gateOf(name).promise })

onEachDatabase('live tails', (create) => {
  const world = useRuns(create, { TRELLIS_CALLER_MAX_TAILS: '3' })
  const tail = (path: string, headers: Record<string, string> = {}) =>
    openTail(`${world.app.url}/api/v1/${path}`, { authorization: `Bearer ${world.token}`, ...headers })
  const rename = (name: string, branch: string) => world.ok('repos/update', { name, defaultBranch: branch })

  before(async () => {
    gates.clear()
    await world.repo('tools', {
      talks: { does: `ctx.log('one'); await (globalThis as any).atTailGate(input.gate); ctx.log('two')` },
    })
  })

  it('tell the log of a run as it grows, go on where somebody left, and end with it', async () => {
    const { run } = await world.ok('runs/dispatch', {
      name: 'tools',
      extension: 'talks',
      input: { gate: 'a' },
    })
    const path = `runs/${run.id}/tail`
    await using live = await tail(path)
    assert.match(live.headers.get('content-type') ?? '', /^text\/event-stream/)
    const seen = [await live.next(), await live.next(), await live.next()]
    assert.deepEqual(
      seen.map((one) => one?.data.type),
      ['run.queued', 'run.started', 'run.log'],
    )
    gateOf('a').resolve()
    assert.deepEqual(await live.rest(), ['run.log', 'run.succeeded'])
    const { items } = await world.ok('runs/logs', { id: run.id })
    assert.deepEqual(
      seen.map((one) => one?.data),
      items.slice(0, 3),
    )
    await using again = await tail(path, { 'last-event-id': seen[1]?.id ?? '' })
    assert.deepEqual(await again.rest(), ['run.log', 'run.log', 'run.succeeded'])
    await using over = await tail(path, { 'last-event-id': String(items.length) })
    assert.deepEqual([over.status, await over.rest()], [204, []])
    await using garbage = await tail(path, { 'last-event-id': 'x' })
    assert.equal((await garbage.rest()).length, items.length)
  })

  it('tell what is added to the log of a repository or of the organization from now on', async () => {
    await world.ok('repos/create', { name: 'told' })
    await world.ok('repos/create', { name: 'other' })
    await using repo = await tail('events/tail?name=told')
    await using org = await tail('events/tail')
    await rename('other', 'x')
    await rename('told', 'y')
    const told = await repo.next()
    const { items } = await world.ok('events/list', { name: 'told', order: 'newest', limit: 1 })
    assert.deepEqual([told?.data, told?.id], [items[0], String(items[0].seq)])
    await world.ok('keys/create', { name: 'k' })
    assert.equal((await org.next())?.data.type, 'key.created')
    await rename('told', 'z')
    await rename('told', 'main')
    await using resumed = await tail('events/tail?name=told', { 'last-event-id': told?.id ?? '' })
    const [third, fourth] = [await resumed.next(), await resumed.next()]
    assert.deepEqual([third?.id, fourth?.id], [String(items[0].seq + 1), String(items[0].seq + 2)])
    await using tooMany = await tail('events/tail')
    assert.deepEqual([tooMany.status, tooMany.headers.get('retry-after')], [429, '5'])
  })

  it('hear of what other processes add', async () => {
    await world.ok('repos/create', { name: 'shared' })
    await using live = await tail('events/tail?name=shared')
    // As another process would write it.
    await world.app.database.transact(async (tx) => {
      const { scope, last_seq } = await tx
        .updateTable('event_counters')
        .set((eb) => ({ last_seq: eb('last_seq', '+', 1) }))
        .where('scope', '=', (eb) =>
          eb
            .selectFrom('events')
            .select('scope')
            .where('type', '=', 'repo.created')
            .where('subject', '=', 'shared'),
        )
        .returningAll()
        .executeTakeFirstOrThrow()
      const row = await tx
        .selectFrom('events')
        .selectAll()
        .where('scope', '=', scope)
        .executeTakeFirstOrThrow()
      await tx
        .insertInto('events')
        .values({ ...row, seq: last_seq, id: 'evt_other', type: 'other.process' })
        .execute()
    })
    assert.deepEqual((await live.next())?.data.type, 'other.process')
  })

  it('ask for the same credentials as operations, and take the cookie and the organization from a browser', async () => {
    const { email, slug } = await world.app.signUp('bea')
    const cookie = await sessionCookieOf(world.app, email)
    const statusOf = async (path: string, headers: Record<string, string>) => {
      await using opened = await openTail(`${world.app.url}/api/v1/${path}`, headers)
      return opened.status
    }
    const org = `events/tail?org=${slug}`
    assert.equal(await statusOf(org, { cookie, 'sec-fetch-site': 'same-origin' }), 200)
    assert.equal(await statusOf('events/tail?org=nobody', { cookie }), 403)
    assert.equal(await statusOf(org, { cookie, 'sec-fetch-site': 'cross-site' }), 403)
    assert.equal(await statusOf(org, {}), 401)
    assert.equal(await statusOf(org, { authorization: 'Bearer x' }), 401)
    assert.equal(await statusOf('events/tail?name=tools', { cookie }), 404)
    assert.equal(await statusOf('events/tail?name=A+B', { cookie }), 400)
    assert.equal(await statusOf('runs/run_none/tail', { cookie }), 404)
    const posted = await fetch(`${world.app.url}/api/v1/events/tail`, { method: 'POST' })
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET'])
  })

  it('end with the credential, and with what they are about', async () => {
    await world.ok('repos/create', { name: 'ends' })
    const { secret, id } = await world.ok('tokens/create', { name: 'ends' })
    const authorization = `Bearer ${secret}`
    await using revoked = await tail('events/tail?name=ends', { authorization })
    assert.equal(revoked.status, 200)
    await world.ok('tokens/revoke', { name: 'ends', id })
    assert.equal((await revoked.next())?.data.type, 'token.revoked')
    world.app.pass(61_000)
    assert.deepEqual(await revoked.rest(), [])
    await using deleted = await tail('events/tail?name=ends')
    await world.ok('repos/delete', { name: 'ends' })
    assert.deepEqual(await deleted.rest(), ['repo.deleted'])
  })

  it('end when the server stops, at once', async () => {
    await using database = await create()
    const app = await startTestApp(database)
    const { token } = await app.signUp('ana')
    const headers = { authorization: `Bearer ${token}` }
    await using live = await openTail(`${app.url}/api/v1/events/tail`, headers)
    const [types] = await Promise.all([live.rest(), app.stop()])
    assert.deepEqual(types, [])
  })
})

describe('a stream to one who takes nothing', () => {
  it('is given so much, and cut off when that is still not taken', async () => {
    const opened = Promise.withResolvers<ServerResponse>()
    await using server = createServer((_request, response) => opened.resolve(response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const request = get({ port: (server.address() as AddressInfo | null)?.port ?? 0, host: '127.0.0.1' })
    request.on('error', () => {})
    const response = await opened.promise
    const out = createStream(response, { isNumbered: true, isLast: () => false })
    out.begin()
    out.beat()
    const event = { seq: 1, type: 'x.y', payload: 'x'.repeat(1024 * 1024) } as unknown as NumberedEvent
    let taken = 0
    while (out.listener.take(event)) {
      taken++
      await new Promise(setImmediate)
    }
    assert.ok(taken < 100)
    out.beat()
    await out.closed
    assert.equal(response.destroyed, true)
    request.destroy()
  })
})
