import assert from 'node:assert/strict'
import { copyFile, mkdtempDisposable, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Kysely } from 'kysely'
import { DatabaseUnavailable } from '../../platform/outages.ts'
import { SqliteConnection } from './connection.ts'
import { LogSync } from './log-sync.ts'
import { openSqlite } from './open.ts'
import { SqliteWriter } from './writer.ts'

/** A database whose disk does what the test says. */
async function openNotes() {
  const directory = await mkdtempDisposable(join(tmpdir(), 'trellis-log-'))
  const path = join(directory.path, 'notes.db')
  const connection = new SqliteConnection(path, { readOnly: false })
  connection.run('create table notes (id text)')
  const syncs: PromiseWithResolvers<void>[] = []
  const failures: unknown[] = []
  const log = new LogSync(path, {
    onFailure: (error) => failures.push(error),
    syncData: (descriptor) => {
      assert.ok(descriptor > 2)
      const sync = Promise.withResolvers<void>()
      syncs.push(sync)
      return sync.promise
    },
  })
  const writer = new SqliteWriter(connection, log, { onRun() {}, onCommitted() {} })
  const told: string[] = []
  return {
    path,
    log,
    syncs,
    failures,
    told,
    notes: () => connection.run('select id from notes').rows.length,
    /** Resolves when it has been written, and tells when that is on the disk. */
    async write(id: string): Promise<void> {
      const turn = await writer.begin()
      turn.run('insert into notes values (?)', [id])
      turn.commit().then(
        () => told.push(id),
        (error) => told.push(`${id}: ${error.name}`),
      )
      await turnsOfLoop()
    },
    async [Symbol.asyncDispose]() {
      for (const sync of syncs) sync.resolve()
      await log.close()
      connection.close()
      await directory.remove()
    },
  }
}

async function turnsOfLoop(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise(setImmediate)
}

describe('the log of SQLite', () => {
  it('tells of no commit before it is on the disk, and lets others write meanwhile', async () => {
    await using database = await openNotes()
    const { log, syncs, told, write, notes } = database
    await write('first')
    await write('second')
    await write('third')
    assert.equal(notes(), 3)
    assert.deepEqual(told, [])
    assert.equal(syncs.length, 1)
    assert.ok(log.underWay)

    // It may have begun before the others were written.
    syncs[0]?.resolve()
    await turnsOfLoop()
    assert.deepEqual(told, ['first'])
    assert.equal(syncs.length, 2)

    syncs[1]?.resolve()
    await turnsOfLoop()
    assert.deepEqual(told, ['first', 'second', 'third'])
    assert.equal(log.underWay, undefined)
  })

  it('is written into the file at a start, since the disk may lack what memory still has', async () => {
    await using crashed = await openNotes()
    await crashed.write('first')
    await using directory = await mkdtempDisposable(join(tmpdir(), 'trellis-log-'))
    const path = join(directory.path, 'notes.db')
    for (const end of ['', '-wal']) await copyFile(`${crashed.path}${end}`, `${path}${end}`)
    assert.ok((await stat(`${path}-wal`)).size > 0)
    const { kysely, reads, close } = openSqlite(path, { outages: { began() {}, ended() {} } })
    assert.equal((await stat(`${path}-wal`)).size, 0)
    assert.deepEqual(reads?.run('select id from notes', []).rows, [{ id: 'first' }])
    await close(new Kysely({ dialect: kysely }))
  })

  it('is used no more when the disk has failed: another sync would not tell what is lost', async () => {
    await using database = await openNotes()
    const { log, syncs, failures, told, write } = database
    await write('first')
    await write('second')
    const broken = new Error('EIO: i/o error, fdatasync')
    syncs[0]?.reject(broken)
    await turnsOfLoop()
    assert.deepEqual(told, ['first: DatabaseUnavailable', 'second: DatabaseUnavailable'])
    assert.deepEqual(failures, [broken])
    assert.throws(
      () => log.requireSound(),
      (error) => error instanceof DatabaseUnavailable && error.cause === broken,
    )
    await assert.rejects(write('third'), DatabaseUnavailable)
    assert.equal(syncs.length, 1)
  })
})
