// What other clients than stock git do with a host. Stock git looks at what came of it, on both sides.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, it, type TestContext } from 'node:test'
import { createSqlite, useInSuite } from '@trellis/server/testing'
import { Cannot, type Driver, Refused, startDriver } from './clients/driver.ts'
import { type OtherClient, otherClients } from './clients/installed.ts'
import { type Client, createClient, listed, useHost } from './harness.ts'

const LARGE = 24 * 1024 * 1024
/** So much of it is noise. All of it would take clients in slow languages half a minute to compress, in vain. */
const NOISE = 8 * 1024 * 1024

const host = useHost(createSqlite)

/** Looks into a directory of another client. */
const look = (dir: string): Client => createClient(dir, { token: host.owner.token })

/** What a repository has, without what only some clients list. */
const plain = (refs: Record<string, string>) =>
  Object.fromEntries(Object.entries(refs).filter(([name]) => name !== 'HEAD' && !name.endsWith('^{}')))

/** A commit with a large blob, made once for all clients. */
let large: Promise<{ client: Client; blob: string; commit: string }> | undefined
async function makeLarge() {
  const client = host.client({ config: { 'core.compression': '0', 'core.looseCompression': '0' } })
  await client.run('init', '-q')
  const blob = await client.feed(Buffer.concat([randomBytes(NOISE)], LARGE), 'hash-object', '-w', '--stdin')
  const tree = await client.feed(`100644 blob ${blob}\tlarge.bin\n`, 'mktree')
  const commit = await client.run('commit-tree', '-m', 'large', tree)
  await client.run('update-ref', 'refs/heads/main', commit)
  // Some send what is packed as it is.
  await client.run('repack', '-adq')
  return { client, blob, commit }
}

for (const other of otherClients)
  if (other.isInstalled) describe(other.name, () => tests(other))
  else describe(other.name, { skip: `not installed: apt-get install ${other.packages}` }, () => {})

function tests(other: OtherClient) {
  const named = (what: string) => `${what}-${other.name.toLowerCase()}`
  const newDirectory = () => host.sandbox.path(named('dir'))
  let key: string
  before(async () => {
    key = (await host.ok('keys/create', { name: named('key') })).secret
  })
  const driver: Driver = useInSuite(async (made) => {
    const home = host.client().dir
    return made.use(startDriver(await other.prepare(home), home, { user: 'any', password: key }))
  })

  /** A new repository with the small history, and a clone of it that this client made. */
  async function cloned(what: string) {
    const { client: source, url } = await host.filled(named(what))
    const dir = newDirectory()
    await driver.clone(url, dir)
    return { source, url, dir, clone: look(dir) }
  }

  const refs = (what: string) => host.refs(named(what))

  it('lists the refs', async () => {
    const { url } = await host.filled(named('list'))
    assert.deepEqual(plain(await driver.list(url)), plain(await listed(host.client(), url)))
  })

  it('clones everything, whole, and fetches what is new with its tags', async () => {
    const { source, url, dir, clone } = await cloned('read')
    assert.equal(await clone.run('rev-parse', '--abbrev-ref', 'HEAD'), 'main')
    for (const [here, there] of [
      ['HEAD', 'main'],
      ['origin/side', 'side'],
      ['v1', 'v1'],
    ] as const)
      assert.equal(await clone.rev(here), await source.rev(there), here)
    assert.equal(await clone.run('status', '--porcelain'), '')
    await clone.run('fsck', '--full', '--strict')

    await source.commit({ 'new.txt': 'new\n' })
    await source.run('tag', '-a', '-m', 'second', 'v2')
    await source.run('push', '-q', url, 'main', 'main:refs/heads/topic', 'v2')
    await driver.fetch(dir)
    for (const [here, there] of [
      ['origin/main', 'main'],
      ['origin/topic', 'main'],
      ['v2', 'v2'],
    ] as const)
      assert.equal(await clone.rev(here), await source.rev(there), here)
    // And once more, when there is nothing.
    await driver.fetch(dir)
    await clone.run('fsck', '--full', '--strict')
  })

  it('pushes, forces only when told to, and deletes', async () => {
    const { url, dir, clone } = await cloned('push')
    const first = await clone.commit({ 'pushed.txt': 'pushed\n' })
    await driver.push(url, dir, 'refs/heads/main:refs/heads/main')
    await driver.push(url, dir, 'refs/heads/main:refs/heads/topic')
    const moved = await refs('push')
    assert.deepEqual([moved['refs/heads/main'], moved['refs/heads/topic']], [first, first])

    await clone.run('reset', '-q', '--hard', 'HEAD~3')
    const second = await clone.commit({ 'instead.txt': 'instead\n' })
    await assert.rejects(driver.push(url, dir, 'refs/heads/main:refs/heads/topic'), Refused)
    assert.equal((await refs('push'))['refs/heads/topic'], first)
    await driver.push(url, dir, '+refs/heads/main:refs/heads/topic')
    assert.equal((await refs('push'))['refs/heads/topic'], second)

    await driver.push(url, dir, ':refs/heads/topic')
    assert.equal((await refs('push'))['refs/heads/topic'], undefined)
    assert.equal((await refs('push'))['refs/heads/main'], first)
  })

  it('pushes tags of both kinds, and deletes one', async () => {
    const { url, dir, clone } = await cloned('tags')
    await clone.run('tag', 'light')
    await clone.commit({ 'tagged.txt': 'tagged\n' })
    await clone.run('tag', '-a', '-m', 'a tag', 'heavy')
    await driver.push(url, dir, 'refs/tags/light:refs/tags/light', 'refs/tags/heavy:refs/tags/heavy')
    const moved = await listed(clone, url)
    assert.equal(moved['refs/tags/light'], await clone.rev('light'))
    assert.equal(moved['refs/tags/heavy'], await clone.rev('heavy'))
    assert.equal(moved['refs/tags/heavy^{}'], await clone.rev('HEAD'))
    await driver.push(url, dir, ':refs/tags/light')
    assert.equal((await refs('tags'))['refs/tags/light'], undefined)
  })

  it('clones shallow, and pushes from there', async (t) => {
    const { url } = await host.filled(named('shallow'))
    const dir = newDirectory()
    if (await isBeyond(t, driver.clone(url, dir, 2))) return
    const clone = look(dir)
    assert.equal(await clone.run('rev-list', '--count', 'HEAD'), '2')
    const commit = await clone.commit({ 'shallow.txt': 'shallow\n' })
    await driver.push(url, dir, 'refs/heads/main:refs/heads/main')
    assert.equal((await refs('shallow'))['refs/heads/main'], commit)
    await clone.run('fsck', '--full')
  })

  it('clones an empty repository, and makes the first push', async () => {
    const url = await host.repo(named('empty'))
    const dir = newDirectory()
    assert.deepEqual(await driver.list(url), {})
    await driver.clone(url, dir)
    const clone = look(dir)
    await clone.run('symbolic-ref', 'HEAD', 'refs/heads/main')
    const commit = await clone.commit({ 'first.txt': 'first\n' })
    await driver.push(url, dir, 'refs/heads/main:refs/heads/main')
    assert.deepEqual(await refs('empty'), { 'refs/heads/main': commit })
  })

  it('is told why a ref did not move', async () => {
    const { url, dir } = await cloned('refused')
    await assert.rejects(
      driver.push(url, dir, 'refs/heads/main:refs/trellis/mine'),
      /moved by the server alone/,
    )
  })

  it('pushes and clones a blob of 24 MB', async () => {
    large ??= makeLarge()
    const { client: source, blob, commit } = await large
    const url = await host.repo(named('large'))
    await driver.push(url, source.dir, 'refs/heads/main:refs/heads/main')
    assert.deepEqual(await refs('large'), { 'refs/heads/main': commit })
    const dir = newDirectory()
    await driver.clone(url, dir)
    const clone = look(dir)
    assert.equal(await clone.rev('HEAD'), commit)
    assert.equal(await clone.run('hash-object', 'large.bin'), blob)
  })
}

/** Whether a client is not able to do something, which is then told. */
const isBeyond = (t: TestContext, attempt: Promise<void>): Promise<boolean> =>
  attempt.then(
    () => false,
    (error: unknown) => {
      if (!(error instanceof Cannot)) throw error
      t.skip(`this version cannot make ${error.message}`)
      return true
    },
  )
