import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqlite, type TestDatabase, useDatabase } from '../../testing/databases.ts'
import type { Migration } from '../migrations/index.ts'

interface Notes {
  notes: { id: string }
}

const steps: Migration[] = [
  { name: 'notes', statements: ({ text }) => [`create table notes (id ${text} primary key)`] },
]

describe('one SQLite file and several processes', () => {
  const database = useDatabase<Notes>(createSqlite, { steps })

  const ids = async () => {
    const rows = await database.db.selectFrom('notes').select('id').orderBy('id').execute()
    return rows.map(({ id }) => id)
  }

  it('reads go on and a write waits its turn while another process is writing', async () => {
    const other = await holdWriteLock(database.store.location)
    let written = false
    const write = database
      .transact((tx) => tx.insertInto('notes').values({ id: 'ours' }).execute())
      .then(() => {
        written = true
      })
    // The other process lets go only after this: a wait that blocked the event loop would never get here.
    for (let i = 0; i < 20; i++) {
      assert.deepEqual(await ids(), [])
      await sleep(5)
    }
    assert.equal(await database.answers(), true)
    assert.equal(written, false)

    await other.commit()
    await write
    assert.deepEqual(await ids(), ['ours', 'theirs'])
  })

  it('a write outside a transaction waits its turn too', async () => {
    const other = await holdWriteLock(database.store.location, 'theirs again')
    const write = database.db.insertInto('notes').values({ id: 'plain' }).execute()
    await sleep(20)
    await other.commit()
    await write
    assert.deepEqual(await ids(), ['ours', 'plain', 'theirs', 'theirs again'])
  })
})

const HOLDER = `
  import { DatabaseSync } from 'node:sqlite'
  const [path, id] = process.argv.slice(1)
  const db = new DatabaseSync(path, { timeout: 10_000 })
  db.exec('begin immediate')
  db.prepare('insert into notes values (?)').run(id)
  console.log('held')
  process.stdin.once('data', () => {
    db.exec('commit')
    db.close()
    process.stdin.destroy()
  })
`

/** Another process, in the middle of a write transaction until it is told to commit. */
async function holdWriteLock(location: TestDatabase['location'], id = 'theirs') {
  if (!('sqlite' in location)) throw new Error('not a file')
  const child = spawn(process.execPath, ['--input-type=module', '--eval', HOLDER, location.sqlite, id], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  await once(lines, 'line')
  return {
    commit: async () => {
      const exit = once(child, 'exit')
      child.stdin.write('commit\n')
      assert.deepEqual(await exit, [0, null])
    },
  }
}
