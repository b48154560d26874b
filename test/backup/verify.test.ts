// What verify finds: one thing after the other is broken beside a server that runs.

import assert from 'node:assert/strict'
import { chmod, copyFile, cp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { onEachDatabase } from '@trellis/server/testing'
import { type Host, packFiles, startHost } from '../git/harness.ts'
import { type AdminRun, admin } from './admin.ts'

async function flipByte(path: string): Promise<void> {
  await chmod(path, 0o600)
  const bytes = await readFile(path)
  const middle = Math.floor(bytes.length / 2)
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff
  await writeFile(path, bytes)
}

onEachDatabase('verify', (create) => {
  it('names what is wrong and where, and finds nothing when all is well', { timeout: 300_000 }, async () => {
    let url: string | undefined
    await using host: Host = await startHost(async (state) => {
      const database = await create(state)
      url = database.url
      return database
    })
    const { db, transact } = host.app.database
    await host.filled('first')
    await host.ok('repos/fork', { name: 'first', newName: 'fork' })
    await host.repo('empty')
    const live = { data: host.app.data, url }
    const [name] = await packFiles(live.data)
    const pack = join(live.data, 'packs', name ?? '')
    const saved = join(host.sandbox.root, 'saved')
    await copyFile(pack, saved)
    await chmod(pack, 0o600)
    const mend = () => copyFile(saved, pack)
    const id = await host.repoId('first')

    const finds = async (expected: RegExp, ...args: string[]): Promise<AdminRun> => {
      const run = await admin(live, 'verify', ...args)
      assert.equal(run.code, 1, run.said + run.told)
      assert.match(run.said, expected)
      return run
    }
    const well = await admin(live, 'verify')
    assert.equal(well.code, 0, well.said + well.told)
    assert.match(
      well.said,
      /^3 repositories, 1 packs and 0 that nobody lists, \d+ logs of events: no problems\n$/,
    )

    await rename(pack, `${pack}.away`)
    await finds(/ann\/\w+, ann\/\w+: pack [0-9a-f]{40} is listed and not stored/, '--quick')
    await rename(`${pack}.away`, pack)

    await truncate(pack, 300)
    await finds(/ann\/first.*: pack [0-9a-f]{40} has another size than/, '--quick')
    await mend()

    await flipByte(pack)
    await finds(/ann\/first.*: pack [0-9a-f]{40} does not read as it was written/)
    await mend()

    const main = await host.refs('first').then((refs) => refs['refs/heads/main'] ?? '')
    const setMain = (oid: string) =>
      transact((tx) =>
        tx
          .updateTable('git_refs')
          .set({ oid: oid as never })
          .where('repo_id', '=', id)
          .where('name', '=', 'refs/heads/main' as never)
          .execute(),
      )
    await setMain('1'.repeat(40))
    await finds(/^ann\/first: refs\/heads\/main points to 1{40}, which is in none of its packs$/m, '--quick')
    await setMain(main)

    const setSize = (bytes: number) =>
      transact((tx) => tx.updateTable('repos').set({ size_bytes: bytes }).where('id', '=', id).execute())
    const { size_bytes } = await db
      .selectFrom('repos')
      .select('size_bytes')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    await setSize(size_bytes + 1)
    await finds(/^ann\/first: is said to have \d+ bytes, and its packs have \d+$/m, '--quick')
    await setSize(size_bytes)

    const scope = `repo:${id}`
    const [event] = await db
      .selectFrom('events')
      .selectAll()
      .where('scope', '=', scope)
      .where('seq', '=', 2)
      .execute()
    assert.ok(event)
    await transact((tx) => tx.deleteFrom('events').where('scope', '=', scope).where('seq', '=', 2).execute())
    const json = await finds(/"kind":"events"/, '--quick', '--json')
    const lines = json.said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(lines[0].problem.repositories, ['ann/first'])
    assert.match(lines[0].problem.text, /the log counts \d+ events, and there are \d+ up to number \d+/)
    assert.equal(lines.at(-1).summary.problems, 1)
    await transact((tx) => tx.insertInto('events').values(event).execute())

    // A file that nobody lists is no problem: it is counted, and swept away in time.
    const stray = join(live.data, 'packs', 'ff')
    for (const part of ['pack', 'idx'])
      await cp(pack, join(stray, `${'f'.repeat(40)}.${part}`), { recursive: true })
    const counted = await admin(live, 'verify', '--quick')
    assert.match(counted.said, /1 packs and 1 that nobody lists.*no problems/)

    // A backup of what is damaged is made and says so; one of what is missing is not made.
    const backups = host.sandbox.path('backups')
    await flipByte(pack)
    const damaged = await admin(live, 'backup', join(backups, 'damaged'))
    assert.deepEqual([damaged.code, /1 packs were damaged/.test(damaged.said)], [1, true], damaged.told)
    await mend()
    await rename(pack, `${pack}.away`)
    const missing = await admin(live, 'backup', join(backups, 'missing'))
    assert.deepEqual([missing.code, /is listed and not stored/.test(missing.told)], [2, true])
    const partial = await admin(live, 'backup', join(backups, 'partial'), '--without-missing')
    assert.equal(partial.code, 1, partial.told)
    await rename(`${pack}.away`, pack)

    // What happens to a backup is found in the backup, and not restored.
    const directory = join(backups, 'good')
    assert.equal((await admin(live, 'backup', directory)).code, 0)
    const copy = (name: string) => cp(directory, join(backups, name), { recursive: true })
    await copy('flipped')
    await flipByte(join(backups, 'flipped', 'packs', name ?? ''))
    await finds(/backup: .*\.pack is damaged/, '--backup', join(backups, 'flipped'))
    await copy('short')
    await flipByte(join(backups, 'short/database/events.jsonl'))
    await finds(/backup: .*events\.jsonl is damaged/, '--backup', join(backups, 'short'))
    await copy('torn')
    await rm(join(backups, 'torn/manifest.json'))
    const fresh = { data: host.sandbox.path('fresh'), url: undefined }
    for (const [broken, reason] of [
      ['flipped', /\.pack is damaged/],
      ['short', /is damaged|JSON/],
      ['torn', /is no backup: it has no manifest\.json/],
    ] as const) {
      const refused = await admin(fresh, 'restore', join(backups, broken))
      assert.deepEqual([refused.code, reason.test(refused.told)], [2, true], refused.told)
    }
    assert.equal((await admin(fresh, 'restore', directory)).code, 0)
  })
})

describe('commands for operators', () => {
  it('tells how it is used', async () => {
    const place = { data: '/nonexistent/trellis', url: undefined }
    for (const command of ['backup', 'restore', 'verify']) {
      const { code, said } = await admin(place, command, '--help')
      assert.deepEqual([code, said.startsWith(`npm run admin -- ${command}`)], [0, true])
    }
    assert.match((await admin(place, '--help')).said, /backup[\s\S]*restore[\s\S]*verify/)
    assert.deepEqual((await admin(place, 'dance')).code, 2)
    assert.deepEqual((await admin(place, 'verify', '--loud')).code, 2)
    assert.match((await admin(place, 'verify')).told, /There is no Trellis in/)
  })
})
