import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { isUnrevokedIn } from '../access/credentials.ts'
import type { Tx } from '../schema.ts'
import { filesOf, foundOrg, onEachDatabase, startReceiver, useRuns } from '../testing/index.ts'
import { keepGoingOn, requestCancel } from './cancel-store.ts'

const gates = new Map<string, PromiseWithResolvers<void>>()
const gateOf = (name: string) => {
  const gate = gates.get(name) ?? Promise.withResolvers<void>()
  gates.set(name, gate)
  return gate
}
const told = new Map<string, PromiseWithResolvers<unknown>>()
const tellingOf = (name: string) => {
  const telling = told.get(name) ?? Promise.withResolvers<unknown>()
  told.set(name, telling)
  return telling
}
Object.assign(globalThis, {
  atEndingGate: (name: string) => gateOf(name).promise,
  tellEnding: (name: string, what: unknown) => tellingOf(name).resolve(what),
})

const WAITS = `
  if (input.child) await ctx.runs.dispatch('waits', { gate: input.child })
  ;(globalThis as any).tellEnding(input.gate, 'begun')
  await (globalThis as any).atEndingGate(input.gate)`

/** Heeds no signal: when it is let go it does all it can, and tells what came of each. */
const WRITES = `
  const { atEndingGate, tellEnding } = globalThis as any
  const note = await ctx.records.create('note', { text: 'a' })
  tellEnding(input.gate, 'begun')
  await atEndingGate(input.gate)
  const put = [{ op: 'put', path: 'new', content: input.gate }]
  const calls = {
    commit: () => ctx.repo.commit({ branch: 'main', message: 'Late', changes: put }),
    createBranch: () => ctx.repo.createBranch('late', 'main'),
    deleteBranch: () => ctx.repo.deleteBranch('other'),
    createTag: () => ctx.repo.createTag('late', input.oid),
    merge: () => ctx.repo.merge({ into: 'main', from: 'other' }),
    create: () => ctx.records.create('note', { text: 'late' }),
    update: () => ctx.records.update('note', note.id, { revision: note.revision, data: { text: 'late' } }),
    delete: () => ctx.records.delete('note', note.id, { revision: note.revision }),
    emit: () => ctx.events.emit('late.news'),
    dispatch: () => ctx.runs.dispatch('waits', { gate: 'late' }),
    fetch: () => ctx.fetch(input.url),
  }
  const came = {}
  for (const [name, call] of Object.entries(calls))
    came[name] = await call().then(() => 'done', (error) => error.code ?? error.message)
  tellEnding(input.gate + ' after', came)`

const note = { name: 'note', fields: { text: { type: 'string', required: true } } }
const capabilities = [
  'repo:read',
  'repo:write',
  'records:read',
  'records:write',
  'events:emit',
  'runs:dispatch',
  'net:127.0.0.1',
]
const extensions = {
  waits: { declares: { capabilities: ['runs:dispatch'] }, does: WAITS },
  writes: { declares: { capabilities, record: note }, does: WRITES },
}

let made = 0

onEachDatabase('what somebody started', (create) => {
  const world = useRuns(create, {
    TRELLIS_RUN_CONCURRENCY: '12',
    TRELLIS_ORG_MAX_RUNNING: '8',
    TRELLIS_EGRESS_ALLOW: '127.0.0.1',
  })

  before(() => world.repo('tools', extensions))

  /** A run that has begun, and another that it asked for. */
  async function begin(token: string) {
    const [gate, child] = [`gate-${++made}`, `gate-${++made}`]
    const input = { name: 'tools', extension: 'waits', input: { gate, child } }
    const { body } = await world.app.call('runs/dispatch', input, { token })
    await tellingOf(gate).promise
    await tellingOf(child).promise
    const { items } = await world.ok('runs/list', { name: 'tools', limit: 1 })
    return { ids: [body.run.id, items[0].id], gates: [gate, child] }
  }
  const statusesOf = async ({ ids }: { ids: string[] }) => {
    const runs = await Promise.all(ids.map((id) => world.ended(id)))
    return runs.map(({ status }) => status)
  }
  const release = ({ gates }: { gates: string[] }) => {
    for (const gate of gates) gateOf(gate).resolve()
  }
  const newKey = () => world.ok('keys/create', { name: 'ci' })
  const newToken = () => world.ok('tokens/create', { name: 'tools', scope: 'write' })

  /** An organization of others, with the same extensions. */
  async function shareIn(slug: string) {
    const acme = await foundOrg(world.app, slug)
    const ask = async (path: string, input: object, person = acme.owner) => {
      const { status, body } = await world.app.call(path, input, acme.as(person))
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    await ask('repos/create', { name: 'shared' })
    const files = Object.entries(filesOf(extensions))
    const changes = files.map(([path, content]) => ({ op: 'put', path, content }))
    const commit = { name: 'shared', branch: 'main', message: 'Add', changes }
    const { oid } = await ask('git/commits/create', commit)
    await ask('extensions/promote', { name: 'shared' })
    return { acme, ask, oid }
  }

  const revocations = {
    'a key that is revoked': async () => {
      const { id, secret } = await newKey()
      return { secret, revoke: () => world.ok('keys/revoke', { id }) }
    },
    'a key that is disabled': async () => {
      const { id, secret } = await newKey()
      return { secret, revoke: () => world.ok('keys/update', { id, enabled: false }) }
    },
    'a token that is revoked': async () => {
      const { id, secret } = await newToken()
      return { secret, revoke: () => world.ok('tokens/revoke', { name: 'tools', id }) }
    },
    'the token of an invite that is revoked': async () => {
      const { id, managementId } = await world.ok('invites/create', { name: 'tools', scope: 'write' })
      const { cloneUrl } = await world.ok('invites/reveal', { id })
      const secret = new URL(cloneUrl).password
      return { secret, revoke: () => world.ok('invites/revoke', { managementId }) }
    },
  }
  for (const [what, make] of Object.entries(revocations))
    it(`ends with ${what}, and nothing else does`, async () => {
      const { secret, revoke } = await make()
      const other = await newKey()
      const theirs = await begin(secret)
      const ours = await begin(other.secret)
      await revoke()
      assert.deepEqual(await statusesOf(theirs), ['cancelled', 'cancelled'])
      release(ours)
      assert.deepEqual(await statusesOf(ours), ['succeeded', 'succeeded'])
    })

  it('does not begin with what was revoked after the request came in', async () => {
    const { database } = world.app
    const isGood = (credential: { kind: 'key' | 'token'; id: string }) =>
      database.transact((tx) => isUnrevokedIn(tx, database.dialect, credential))
    const key = { kind: 'key', id: (await newKey()).id } as const
    const token = { kind: 'token', id: (await newToken()).id } as const
    assert.deepEqual([await isGood(key), await isGood(token)], [true, true])
    await world.ok('keys/revoke', { id: key.id })
    await world.ok('tokens/revoke', { name: 'tools', id: token.id })
    assert.deepEqual([await isGood(key), await isGood(token)], [false, false])
  })

  it('ends while it waits, too', async () => {
    const { id, secret } = await newKey()
    const busy = []
    for (let i = 0; i < 4; i++) busy.push(await begin(world.token))
    const input = { name: 'tools', extension: 'waits', input: { gate: 'never' } }
    const { body } = await world.app.call('runs/dispatch', input, { token: secret })
    assert.equal(body.run.status, 'queued')
    await world.ok('keys/revoke', { id })
    assert.equal((await world.ended(body.run.id)).status, 'cancelled')
    for (const one of busy) release(one)
    for (const one of busy) await statusesOf(one)
    assert.ok(!told.has('never'))
  })

  it('ends in every organization where the key stands for the person', async () => {
    const { app } = world
    const { acme } = await shareIn('acme')
    const key = { name: 'mine', scopes: ['*', 'account'] }
    const { body: mine } = await app.call('keys/create', key, { token: acme.member.token })
    const gate = `gate-${++made}`
    const input = { name: 'shared', extension: 'waits', input: { gate } }
    const { body } = await app.call('runs/dispatch', input, { token: mine.secret, org: 'acme' })
    await tellingOf(gate).promise
    await app.call('keys/revoke', { id: mine.id }, { token: acme.member.token })
    const { body: ended } = await app.call(
      'runs/get',
      { id: body.run.id, waitMs: 10_000 },
      acme.as(acme.owner),
    )
    assert.equal(ended.run.status, 'cancelled')
  })

  it('goes on when what it was started with expires', async () => {
    const { id, secret } = await newToken()
    const run = await begin(secret)
    const { database, now } = world.app
    await database.transact((tx) =>
      tx.updateTable('repo_tokens').set({ expires_at: now() }).where('id', '=', id).execute(),
    )
    assert.equal((await world.app.call('repos/get', { name: 'tools' }, { token: secret })).status, 401)
    release(run)
    assert.deepEqual(await statusesOf(run), ['succeeded', 'succeeded'])
  })

  /** A run that does all it can after `end`, and what came of that. */
  async function afterwards(slug: string, end: (place: Shared, runId: string) => Promise<unknown>) {
    const place = await shareIn(slug)
    const { acme, ask, oid } = place
    await ask('git/branches/create', { name: 'shared', branch: 'other', from: 'main' })
    const changes = [{ op: 'put', path: 'other', content: 'x' }]
    await ask('git/commits/create', { name: 'shared', branch: 'other', message: 'Differ', changes })
    await using receiver = await startReceiver()
    const input = { gate: `gate-${++made}`, oid, url: `${receiver.url}/late` }
    const asked = { name: 'shared', extension: 'writes', input }
    const { run } = await ask('runs/dispatch', asked, acme.member)
    await tellingOf(input.gate).promise
    const log = async () => {
      const { items } = await ask('events/list', { name: 'shared', limit: 100 })
      return items
        .map(({ type }: { type: string }) => type)
        .filter((type: string) => !/^run\.(cancelled|succeeded)$/.test(type))
    }
    await end(place, run.id)
    const before = await log()
    gateOf(input.gate).resolve()
    const came = (await tellingOf(`${input.gate} after`).promise) as Record<string, string>
    await ask('runs/get', { id: run.id, waitMs: 10_000 })
    assert.deepEqual(await log(), before)
    assert.deepEqual(receiver.received, [])
    return Object.entries(came).filter(([, outcome]) => outcome === 'done')
  }
  type Shared = Awaited<ReturnType<typeof shareIn>>

  it('has no effect any more as soon as the removal is answered', async () => {
    const done = await afterwards('emca', ({ acme, ask }) =>
      ask('members/remove', { orgSlug: 'emca', userId: acme.member.userId }),
    )
    assert.deepEqual(done, [])
  })

  it('has none before whoever runs it has heard that it is to end', async () => {
    const done = await afterwards('mace', (_, id) =>
      world.app.database.transact((tx) => requestCancel(tx, id, world.app.now())),
    )
    assert.deepEqual(done, [])
  })

  it('goes on beside a step of its own that is being counted', async () => {
    const run = await begin(world.token)
    const { database } = world.app
    const [id = ''] = run.ids
    await database.transact(async (tx) => {
      await tx
        .updateTable('runs')
        .set((eb) => ({ bytes: eb('bytes', '+', 1) }))
        .where('id', '=', id)
        .execute()
      // On SQLite there is one that writes at a time.
      const another = database.dialect === 'postgres' ? database.db : tx
      assert.ok(await keepGoingOn(another as Tx, database.dialect, id))
    })
    release(run)
  })
})
