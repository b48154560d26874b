import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { createPostgres, startTestApp, type TestApp } from '@trellis/server/testing'

it('a database is refused a process with another data directory, in words, and not with one that was moved', async () => {
  await using database = await createPostgres()
  await using root = await mkdtempDisposable(join(tmpdir(), 'trellis-moved-'))
  const first = join(root.path, 'first')
  const moved = join(root.path, 'moved')
  const env = { TRELLIS_SECRET: 'the-same-for-every-process-0123456789' }
  const start = async (data: string, work = async (_app: TestApp): Promise<unknown> => undefined) => {
    await using app = await startTestApp(database, { ...env, TRELLIS_DATA: data })
    assert.equal((await fetch(`${app.url}/readyz`)).status, 200)
    await work(app)
  }
  // As the version before left it: no id anywhere.
  await start(first, (app) =>
    app.database.transact((tx) =>
      tx.deleteFrom('settings').where('name', '=', 'data_directory_id').execute(),
    ),
  )
  await rm(join(first, 'data.id'))
  await start(first)
  assert.equal((await stat(join(first, 'data.id'))).mode & 0o777, 0o600)
  const id = (await readFile(join(first, 'data.id'), 'utf8')).trim()
  await start(first)
  const other = join(root.path, 'other')
  await assert.rejects(start(other), {
    message:
      `The repositories of this database are in another data directory than ${other}. Give every process the same ` +
      'directory in TRELLIS_DATA: share it between machines, or move it here as a whole. If this is that directory, ' +
      `restored from a backup with all of packs/, say so: echo ${id} > ${other}/data.id`,
  })
  await rename(first, moved)
  await start(moved)
  await writeFile(join(other, 'data.id'), `${id}\n`)
  await start(other)
})
