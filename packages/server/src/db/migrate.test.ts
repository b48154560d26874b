import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { it } from 'node:test'
import { sql } from 'kysely'
import { StartError } from '../platform/start-error.ts'
import { onEachDatabase, type TestDatabase } from '../testing/databases.ts'
import { type Database, openDatabase } from './database.ts'
import { type Migration, migrations } from './migrations/index.ts'

interface Marks {
  marks: { step: number }
  schema_migrations: { version: number; name: string }
}

/** Each leaves a row behind every time it runs. */
const steps: Migration[] = [
  {
    name: 'first',
    statements: ({ integer }) => [
      `create table marks (step ${integer} not null)`,
      'insert into marks values (1)',
    ],
  },
  { name: 'second', statements: () => ['insert into marks values (2)'] },
]

const marksIn = async ({ db }: Database<Marks>) => {
  const rows = await db.selectFrom('marks').select('step').orderBy('step').execute()
  return rows.map(({ step }) => step)
}
const versionsIn = async ({ db }: Database<Marks>) => {
  const rows = await db.selectFrom('schema_migrations').selectAll().orderBy('version').execute()
  return rows.map(({ version, name }) => `${version} ${name}`)
}

onEachDatabase('migrations', (create) => {
  async function withStore(work: (store: TestDatabase) => Promise<void>): Promise<void> {
    await using store = await create('empty')
    await work(store)
  }
  async function withOpen(
    store: TestDatabase,
    given: readonly Migration[],
    work: (database: Database<Marks>) => Promise<void>,
  ): Promise<void> {
    const database = await openDatabase<Marks>(store.location, { steps: given })
    try {
      await work(database)
    } finally {
      await database.close()
    }
  }

  it('run once, in order, and only those not seen before', () =>
    withStore(async (store) => {
      await withOpen(store, steps.slice(0, 1), async (database) => {
        assert.deepEqual(await marksIn(database), [1])
      })
      for (let start = 0; start < 2; start++)
        await withOpen(store, steps, async (database) => {
          assert.deepEqual(await marksIn(database), [1, 2])
          assert.deepEqual(await versionsIn(database), ['1 first', '2 second'])
        })
    }))

  it('run once when eight open one empty database together', () =>
    withStore(async (store) => {
      const opened = await Promise.all(
        Array.from({ length: 8 }, () => openDatabase<Marks>(store.location, { steps })),
      )
      for (const database of opened) {
        assert.deepEqual(await marksIn(database), [1, 2])
        assert.deepEqual(await versionsIn(database), ['1 first', '2 second'])
      }
      await Promise.all(opened.map((database) => database.close()))
    }))

  it('run once when three processes open one empty database together', async () => {
    const rounds = 5
    const processes = [await startOpener(), await startOpener(), await startOpener()]
    try {
      for (let round = 0; round < rounds; round++)
        await withStore(async (store) => {
          const answers = await Promise.all(processes.map((opener) => opener.open(store.location)))
          assert.deepEqual(answers, ['opened', 'opened', 'opened'])
          await withOpen(store, migrations, async (database) => {
            const { rows } = await sql<{ version: number }>`select version from schema_migrations`.execute(
              database.db,
            )
            assert.equal(rows.length, migrations.length)
          })
        })
    } finally {
      await Promise.all(processes.map((opener) => opener.end()))
    }
  })

  it('can ask what is there before them', () =>
    withStore(async (store) => {
      const asked: boolean[] = []
      const asking: Migration = {
        name: 'asking',
        async statements(_, hasColumn) {
          asked.push(await hasColumn('marks', 'step'), await hasColumn('marks', 'steps'))
          return []
        },
      }
      await withOpen(store, [...steps, asking], async () => assert.deepEqual(asked, [true, false]))
    }))

  it('refuse a database that a newer Trellis wrote, in words, and leave it alone', () =>
    withStore(async (store) => {
      await withOpen(store, steps, async () => {})
      await assert.rejects(openDatabase(store.location, { steps: steps.slice(0, 1) }), (error) => {
        assert.ok(error instanceof StartError)
        assert.equal(
          error.message,
          'The database has schema version 2, but this Trellis knows only up to 1. ' +
            'Start the newer Trellis that wrote it, or restore a backup made before the upgrade.',
        )
        return true
      })
      await withOpen(store, steps, async (database) => {
        assert.deepEqual(await marksIn(database), [1, 2])
      })
    }))

  it('leave nothing behind when one of them fails', () =>
    withStore(async (store) => {
      const broken: Migration = {
        name: 'broken',
        statements: () => [
          'create table half (id integer)',
          'insert into marks values (3)',
          'insert into nowhere values (1)',
        ],
      }
      await assert.rejects(openDatabase(store.location, { steps: [...steps, broken] }), /nowhere/)
      await withOpen(store, [], async (database) => {
        await assert.rejects(database.db.selectFrom('marks').selectAll().execute())
        assert.deepEqual(await versionsIn(database), [])
      })
      await withOpen(store, steps, async () => {})
      await assert.rejects(openDatabase(store.location, { steps: [...steps, broken] }), /nowhere/)
      await withOpen(store, steps, async (database) => {
        assert.deepEqual(await marksIn(database), [1, 2])
        assert.deepEqual(await versionsIn(database), ['1 first', '2 second'])
        await assert.rejects(sql`select * from half`.execute(database.db))
      })
    }))
})

const OPENER = `
  import { createInterface } from 'node:readline'
  import { openDatabase } from ${JSON.stringify(import.meta.resolve('./database.ts'))}
  console.log('ready')
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      const database = await openDatabase(JSON.parse(line))
      await database.close()
      console.log('opened')
    } catch (error) {
      console.log(String(error?.message))
    }
  }
`

/** Another process, which opens what it is told to with the real migrations, and closes it again. */
async function startOpener() {
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '--eval', OPENER], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (!child.stdin || !child.stdout) throw new Error('no pipes')
  const { stdin } = child
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => (await lines.next()).value ?? 'ended'
  assert.equal(await next(), 'ready')
  return {
    open: (location: unknown) => {
      stdin.write(`${JSON.stringify(location)}\n`)
      return next()
    },
    end: async () => {
      const exit = once(child, 'exit')
      stdin.end()
      await exit
    },
  }
}
