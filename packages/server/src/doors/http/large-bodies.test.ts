import assert from 'node:assert/strict'
import { type ClientRequest, request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqlite, foundOrg, startTestApp, type TestApp, type TestDatabase } from '../../testing/index.ts'

const MEBIBYTE = 1024 * 1024
/** Long enough for whatever does not wait. */
const A_WHILE_MS = 400

describe('large bodies', () => {
  let database: TestDatabase
  let app: TestApp
  const tokens = { acme: '', other: '', third: '' }
  before(async () => {
    database = await createSqlite()
    app = await startTestApp(database)
    for (const slug of ['acme', 'other', 'third'] as const) {
      const { owner } = await foundOrg(app, slug)
      tokens[slug] = (await app.client(owner.token, slug).keys.create({ name: 'key' })).secret
      await app.client(tokens[slug]).repos.create({ name: 'garden' })
    }
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  interface Sent {
    call: ClientRequest
    status: Promise<number | undefined>
  }

  function send(path: string, headers: Record<string, string>, body: Buffer, isAll: boolean): Sent {
    const call = request(`${app.url}${path}`, { method: 'POST', headers, agent: false })
    const status = new Promise<number | undefined>((resolve) => {
      call.on('response', (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      call.on('error', () => resolve(undefined))
    })
    if (isAll) call.end(body)
    else call.write(body)
    return { call, status }
  }

  /** A commit whose body is so long; all of it is sent, or as much as makes it large. */
  const commit = (org: keyof typeof tokens, bytes: number, isAll: boolean) =>
    commitAs(tokens[org], undefined, bytes, isAll)
  /** Next to nothing of it is sent. */
  const announce = (org: keyof typeof tokens, bytes: number) =>
    send(
      '/api/v1/git/commits/create',
      {
        authorization: `Bearer ${tokens[org]}`,
        'content-type': 'application/json',
        'content-length': String(bytes),
      },
      Buffer.from('{'),
      false,
    )
  const commitAs = (token: string, org: string | undefined, bytes: number, isAll: boolean) =>
    send(
      '/api/v1/git/commits/create',
      {
        authorization: `Bearer ${token}`,
        ...(org && { 'trellis-org': org }),
        'content-type': 'application/json',
        'content-length': String(bytes),
      },
      Buffer.alloc(isAll ? bytes : MEBIBYTE / 2, ' '),
      isAll,
    )

  const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
  const have = packet(`have ${'a'.repeat(40)}\n`)
  /** A request for objects that has become large, whether it ends or not. */
  const fetching = (org: keyof typeof tokens, isAll: boolean) =>
    send(
      `/git/${org}/garden.git/git-upload-pack`,
      {
        authorization: `Basic ${Buffer.from(`x:${tokens[org]}`).toString('base64')}`,
        'git-protocol': 'version=2',
        'content-type': 'application/x-git-upload-pack-request',
      },
      Buffer.from(`${packet('command=fetch\n')}0001${have.repeat(6_000)}${isAll ? '0000' : ''}`),
      isAll,
    )

  const isWaiting = async ({ status }: Sent): Promise<boolean> =>
    (await Promise.race([status, sleep(A_WHILE_MS, 'waits')])) === 'waits'

  for (const [what, { send, holders, answered }] of Object.entries({
    commits: {
      send: (org: keyof typeof tokens, isAll: boolean) =>
        commit(org, isAll ? 30 * MEBIBYTE : 45 * MEBIBYTE, isAll),
      holders: 2,
      // There is nothing but spaces in it.
      answered: 400,
    },
    'requests for objects': { send: fetching, holders: 3, answered: 200 },
  }))
    it(`${what}: of one organization wait for each other, small ones and others do not`, async () => {
      const held = Array.from({ length: holders }, () => send('acme', false))
      assert.ok(await isWaiting(held[0] as Sent))
      const waiting = send('acme', true)
      assert.ok(await isWaiting(waiting))
      assert.equal(await send('other', true).status, answered)
      assert.equal((await app.call('repos/list', {}, { token: tokens.acme })).status, 200)
      for (const { call } of held) call.destroy()
      assert.equal(await waiting.status, answered)
    })

  it('take nothing that is not given back', async () => {
    const left = Array.from({ length: 8 }, () => commit('acme', 45 * MEBIBYTE, false))
    assert.ok(await isWaiting(left[0] as Sent))
    for (const { call } of left) call.destroy()
    assert.equal(await commit('acme', 30 * MEBIBYTE, true).status, 400)
  })

  it('that are too large are refused before anybody waits', async () => {
    const held = Array.from({ length: 2 }, () => commit('acme', 45 * MEBIBYTE, false))
    assert.ok(await isWaiting(held[0] as Sent))
    assert.equal(await commit('acme', 51 * MEBIBYTE, false).status, 413)
    for (const { call } of held) call.destroy()
  })

  it('take nothing by being announced', async () => {
    const announced = Array.from({ length: 8 }, () => announce('acme', 45 * MEBIBYTE))
    await sleep(A_WHILE_MS / 4)
    assert.equal(await commit('acme', 30 * MEBIBYTE, true).status, 400)
    for (const { call } of announced) call.destroy()
  })

  it('of one who has many organizations count together', async () => {
    const person = await app.signUp('many-orgs')
    const mine = ['one', 'two', 'three']
    for (const slug of mine) await app.client(person.token).orgs.create({ slug, name: slug })
    const held = mine.map((org) => commitAs(person.token, org, 45 * MEBIBYTE, false))
    assert.ok(await isWaiting(held[0] as Sent))
    assert.ok(await isWaiting(commitAs(person.token, 'three', 30 * MEBIBYTE, true)))
    assert.equal(await commit('other', 30 * MEBIBYTE, true).status, 400)
    for (const { call } of held) call.destroy()
  })

  const cutAmong = async (held: readonly Sent[]): Promise<number> => {
    const waits = await Promise.all(held.map(isWaiting))
    return waits.filter((still) => !still).length
  }

  it('that hardly come along make room for others, as few as it takes', async () => {
    const held = (['acme', 'other'] as const).flatMap((org) => [
      commit(org, 48 * MEBIBYTE, false),
      commit(org, 48 * MEBIBYTE, false),
    ])
    assert.equal(await cutAmong(held), 0)
    assert.equal(await commit('third', 30 * MEBIBYTE, true).status, 400)
    assert.equal(await cutAmong(held), 1)
    for (const { call } of held) call.destroy()
  })

  it('make room for nobody who has too many himself', async () => {
    const held = Array.from({ length: 2 }, () => commit('acme', 48 * MEBIBYTE, false))
    const others = Array.from({ length: 2 }, () => commit('other', 48 * MEBIBYTE, false))
    assert.equal(await cutAmong([...held, ...others]), 0)
    assert.equal(await commit('acme', 48 * MEBIBYTE, true).status, 400)
    assert.deepEqual([await cutAmong(held), await cutAmong(others)], [1, 0])
    for (const { call } of [...held, ...others]) call.destroy()
  })
})
