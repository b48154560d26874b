// Packs that are not what they were: noticed, told to the operator, and never served as if nothing had happened.

import assert from 'node:assert/strict'
import { chmod, copyFile, readFile, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { onEachDatabase, startTestApp } from '@trellis/server/testing'
import { createSandbox, type Host, packFiles, startHost, until } from './harness.ts'

const REASON = /This repository's data is damaged; the operator has been told/

/** The one pack of the only repository of a host. */
async function onlyPack(host: Host): Promise<string> {
  const [pack, ...others] = await packFiles(host.app.data)
  assert.ok(pack && others.length === 0)
  const path = join(host.app.data, 'packs', pack)
  await chmod(path, 0o600)
  return path
}

/** In the middle of the pack, where the contents of objects are. */
async function flipByte(path: string): Promise<void> {
  const bytes = await readFile(path)
  const middle = Math.floor(bytes.length / 2)
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff
  await writeFile(path, bytes)
}

async function metric(host: Host, name: string): Promise<number> {
  const text = await (await fetch(`${host.app.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
}

/** Every way to ask for what is in the pack. */
async function refusedEverywhere(host: Host, blob: string): Promise<void> {
  for (const [path, input] of [
    ['git/blobs/get', { path: 'file-1.txt' }],
    ['git/blobs/get', { oid: blob }],
    ['git/trees/get', {}],
    ['git/commits/list', {}],
    ['git/commits/get', { ref: 'main' }],
    ['git/compare', { base: 'side', head: 'main' }],
  ] as const) {
    const { status, body } = await host.call(path, { name: 'bad', ...input })
    assert.equal(status, 503, `${path}: ${JSON.stringify(body)}`)
    assert.match(body.message, REASON, path)
  }
  for (const version of [0, 2] as const) {
    const said = await host.client({ version }).fails('clone', '-q', host.remote('bad'), '.')
    assert.match(said, REASON)
  }
}

onEachDatabase('a damaged pack', (create) => {
  it('that was cut short is refused with a reason, at once and in every way', async () => {
    await using host = await startHost(create)
    const { client, url } = await host.filled('bad')
    const blob = await client.rev('main:file-1.txt')
    const pack = await onlyPack(host)
    await truncate(pack, 300)
    await refusedEverywhere(host, blob)
    await client.commit({ 'new.txt': 'new\n' })
    assert.match(await client.fails('push', url, 'main'), REASON)
    assert.match(host.app.logged(), /a pack is damaged.*"repositories":\["ann\/bad"\].*"damage":"size"/)
  })

  it('is found by the scrub, counted, refused, and served again when it is put right', async () => {
    await using host = await startHost(create)
    const { client } = await host.filled('bad')
    const blob = await client.rev('main:file-1.txt')
    // Kept, and not to be given out any more.
    await host.clone('bad')
    await host.ok('git/blobs/get', { name: 'bad', path: 'file-1.txt' })
    await host.ok('git/blobs/get', { name: 'bad', oid: blob })
    await host.ok('git/commits/get', { name: 'bad', ref: 'main' })
    const pack = await onlyPack(host)
    await copyFile(pack, `${pack}.good`)
    await flipByte(pack)
    assert.equal(await metric(host, 'trellis_packs_damaged'), 0)
    await host.app.background.run('pack scrub')
    assert.equal(await metric(host, 'trellis_packs_damaged'), 1)
    assert.match(host.app.logged(), /a pack is damaged.*"repositories":\["ann\/bad"\].*"damage":"content"/)
    await refusedEverywhere(host, blob)
    // Refs are rows and are told as ever; the server as a whole goes on.
    assert.equal((await host.ok('git/refs/list', { name: 'bad' })).items.length > 0, true)
    assert.equal((await fetch(`${host.app.url}/readyz`)).status, 200)

    await rename(`${pack}.good`, pack)
    await host.app.background.run('pack scrub')
    assert.equal(await metric(host, 'trellis_packs_damaged'), 0)
    await (await host.clone('bad')).run('fsck', '--full')

    // What has been read is left alone for a week.
    await flipByte(pack)
    await host.app.background.run('pack scrub')
    assert.equal(await metric(host, 'trellis_packs_damaged'), 0)
    host.app.pass(8 * 86_400_000)
    await host.app.background.run('pack scrub')
    assert.equal(await metric(host, 'trellis_packs_damaged'), 1)
  })

  it('that reads differently is refused with a reason by the first who stumbles over it', async () => {
    await using host = await startHost(create)
    await host.filled('bad')
    await flipByte(await onlyPack(host))
    assert.match(await host.client().fails('clone', '-q', host.remote('bad'), '.'), REASON)
    // The clone and its request both look into it: one may be answered before the other has told.
    await until('the damage is told', () => /a pack is damaged.*"damage":"content"/.test(host.app.logged()))
  })

  it('that is gone is told by the log of the start and by /readyz until it is back', async () => {
    const sandbox = createSandbox()
    const database = await create()
    const data = sandbox.path('data')
    try {
      let pack: string
      {
        await using host = await startHost(
          async () => ({ ...database, [Symbol.asyncDispose]: async () => {} }),
          {
            TRELLIS_DATA: data,
          },
        )
        await host.filled('bad')
        pack = await onlyPack(host)
        assert.equal((await fetch(`${host.app.url}/readyz`)).status, 200)
      }
      await rename(pack, `${pack}.away`)
      await using app = await startTestApp(database, { TRELLIS_DATA: data })
      const ready = await fetch(`${app.url}/readyz`)
      assert.match(app.logged(), /"level":"error","message":"packs are listed and not stored","missing":1/)
      assert.equal(ready.status, 503)
      const { status, problems } = (await ready.json()) as { status: string; problems: string[] }
      assert.equal(status, 'unavailable')
      assert.match(problems.join(), /^1 packs are listed and not stored, such as [0-9a-f]{40}$/)
      // Perhaps only this process looks in the wrong place: nothing is held against the pack.
      await app.background.run('pack scrub')
      await rename(`${pack}.away`, pack)
      await app.background.run('pack survey')
      assert.equal((await fetch(`${app.url}/readyz`)).status, 200)
    } finally {
      await database.drop()
      sandbox.remove()
    }
  })
})
