import { readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openSnapshot } from '../db/snapshot.ts'
import { makeDirectories } from '../platform/directories.ts'
import { copyWhole, readLines, requireSame, syncDirectory } from './archive/files.ts'
import { type Manifest, PACK_LIST, PackLine, readManifest } from './archive/manifest.ts'
import { loadBackup } from './archive/tables.ts'
import { type Circumstances, type Command, createProgress, Unfit } from './command.ts'
import { exists, type Places, placesOf } from './places.ts'

export const restore: Command = {
  name: 'restore',
  usage: '<directory>',
  about: 'Put a backup into an empty data directory and an empty database',
  help: `Fills the data directory (TRELLIS_DATA) and the database (TRELLIS_DATABASE_URL, or SQLite in the data
directory) from a backup. Both must be empty, and no server may run on them. Everything is compared with what was
written; the database comes last, so that what is not whole does not start. A backup of SQLite can be restored into
PostgreSQL, and the other way round.

Exit code 0 when all is in place, 2 when nothing is.`,
  options: {},
  positionals: 1,
  run: putBack,
}

/** What a new file system brings along. */
const IGNORED = ['lost+found']

async function putBack({ config, positionals, print, tell }: Circumstances): Promise<number> {
  const places = placesOf(config)
  const source = resolve(positionals[0] ?? '')
  const manifest = await readManifest(source)
  await requireEmpty(places)
  const { dataDir } = places
  const wasThere = await exists(dataDir)
  const made = await makeDirectories(dataDir)
  for (const parent of made.slice(0, -1)) tell(`Made ${parent}, which was not there`)
  try {
    tell(`Copying ${manifest.packs.count} packs`)
    await copyPacks(source, manifest, { dataDir, tell })
    for (const { name, ...expected } of manifest.secrets) {
      const { sha256 } = await copyWhole(join(source, name), join(dataDir, name))
      requireSame(join(source, name), sha256, expected)
    }
    await syncDirectory(dataDir)
    tell('Filling the database')
    await fillDatabase(source, manifest, places)
  } catch (error) {
    for (const name of await readdir(dataDir))
      if (!IGNORED.includes(name)) await rm(join(dataDir, name), { recursive: true, force: true })
    if (!wasThere) await rm(dataDir, { recursive: true, force: true })
    throw error
  }
  print(`${dataDir}: restored as of ${manifest.createdAt}, with ${manifest.packs.count} packs`)
  if (manifest.packs.missing > 0)
    print(`${manifest.packs.missing} packs were missing when the backup was made: run verify`)
  if (!config.secret && !manifest.secrets.some(({ name }) => name === 'server.key'))
    print('The backup has no server.key: set TRELLIS_SECRET to what it was, or the server will not start')
  return 0
}

async function requireEmpty({ dataDir, database }: Places): Promise<void> {
  const found = (await exists(dataDir)) ? await readdir(dataDir) : []
  const [other] = found.filter((name) => !IGNORED.includes(name))
  if (other) throw new Unfit(`${dataDir} is not empty (${other}): restore only into a new data directory`)
  if ('sqlite' in database) return
  await using snapshot = await openSnapshot(database)
  const [table] = snapshot.tables
  if (table) throw new Unfit(`The database is not empty (table ${table}): restore only into a new database`)
}

async function copyPacks(
  source: string,
  manifest: Manifest,
  { dataDir, tell }: { dataDir: string; tell(line: string): void },
): Promise<void> {
  const progress = createProgress(tell, 'packs copied')
  const folders = new Set<string>()
  for await (const line of readLines(join(source, PACK_LIST), manifest.packs.list)) {
    for (const { name, ...expected } of PackLine.parse(JSON.parse(line)).files) {
      const from = join(source, 'packs', name)
      const to = join(dataDir, 'packs', name)
      const { sha256 } = await copyWhole(from, to, 0o400).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new Unfit(`${from} is missing`, { cause: error }) : error
      })
      requireSame(from, sha256, expected)
      folders.add(join(to, '..'))
    }
    progress.step()
  }
  for (const folder of folders) await syncDirectory(folder)
  if (folders.size > 0) await syncDirectory(join(dataDir, 'packs'))
}

/** SQLite under another name at first, PostgreSQL in one transaction: there is all of it, or nothing a server would use. */
async function fillDatabase(
  source: string,
  manifest: Manifest,
  { dataDir, database }: Places,
): Promise<void> {
  if ('postgres' in database) return loadBackup(source, manifest.database, database)
  const unfinished = `${database.sqlite}.restoring`
  await loadBackup(source, manifest.database, { sqlite: unfinished })
  if (await exists(`${unfinished}-wal`)) throw new Error('SQLite left its log behind')
  await rename(unfinished, database.sqlite)
  await syncDirectory(dataDir)
}
