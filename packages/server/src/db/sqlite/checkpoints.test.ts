import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createSqlite } from '../../testing/databases.ts'
import { Checkpoints } from './checkpoints.ts'
import { SqliteConnection } from './connection.ts'

const PAGE_BYTES = 4096

describe('the log of SQLite', () => {
  it('goes into the file beside those who write, and begins again', { timeout: 120_000 }, async () => {
    const store = await createSqlite()
    const { sqlite: path = '' } = store.location as { sqlite?: string }
    const connection = new SqliteConnection(path, { readOnly: false })
    const checkpoints = new Checkpoints(path, connection, { commitsBeforeThread: 1 })
    const numberOf = (pragma: string, column: string) =>
      Number((connection.run(`pragma ${pragma}`).rows[0] as Record<string, unknown>)[column])
    let written = 0
    async function writeUntil(pages: number, isSo: () => boolean): Promise<void> {
      while (!isSo()) {
        connection.run('insert or replace into notes values (1, randomblob(?))', [pages * PAGE_BYTES])
        checkpoints.committed()
        written += pages
        await setImmediate()
      }
    }
    try {
      connection.run('create table notes (id integer primary key, text)')
      const ownLimit = numberOf('wal_autocheckpoint', 'wal_autocheckpoint')
      await writeUntil(1, () => numberOf('wal_autocheckpoint', 'wal_autocheckpoint') > ownLimit)
      // What is no longer there is in the file.
      await writeUntil(200, () => written - numberOf('wal_checkpoint(noop)', 'log') > 2 * ownLimit)
    } finally {
      await checkpoints.close()
      connection.close()
      assert.equal(existsSync(`${path}-wal`), false)
      await store.drop()
    }
  })
})
