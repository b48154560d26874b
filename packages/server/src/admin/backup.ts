import { randomBytes } from 'node:crypto'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { listedPacks } from '../code/listed-packs.ts'
import { openSnapshot } from '../db/snapshot.ts'
import { createLocalPackStore, type PackFile, PackMissing } from '../git/packs/pack-store.ts'
import { makeDirectories } from '../platform/directories.ts'
import { inGroups } from '../platform/groups.ts'
import type { Schema } from '../schema.ts'
import { copyWhole, syncDirectory, writeLines } from './archive/files.ts'
import { holdPacks } from './archive/held-packs.ts'
import { MANIFEST, type Manifest, PACK_LIST, type PackLine, SECRETS } from './archive/manifest.ts'
import { writeTables } from './archive/tables.ts'
import { type Circumstances, type Command, createProgress, Unfit } from './command.ts'
import { exists, placesOf, requireInUse } from './places.ts'

export const backup: Command = {
  name: 'backup',
  usage: '<directory> [--without-missing]',
  about: 'Copy everything that is needed to start again elsewhere, while the server runs or not',
  help: `Makes a new directory with the database as it was at one moment, every pack it lists, and the secrets of the
data directory. The directory appears under its name when all of it is on disk, and not before. It holds secrets
(server.key): whoever can read it can do everything.

  --without-missing   go on where a pack is listed and not stored; restoring gives what there is

Exit code 0 when all is copied, 1 when something of it is damaged or missing, 2 when nothing was made.`,
  options: { 'without-missing': { type: 'boolean' } },
  positionals: 1,
  run: takeBackup,
}

async function takeBackup({ config, values, positionals, print, tell }: Circumstances): Promise<number> {
  const places = placesOf(config)
  await requireInUse(places)
  const target = resolve(positionals[0] ?? '')
  if (await exists(target)) throw new Unfit(`${target} exists already: give a directory that does not`)
  const unfinished = `${target}.unfinished-${randomBytes(4).toString('hex')}`
  const made = await makeDirectories(unfinished)
  for (const parent of made.slice(0, -1)) tell(`Made ${parent}, which was not there`)
  try {
    const withoutMissing = values['without-missing'] === true
    const { manifest, damaged } = await fill(unfinished, { ...places, withoutMissing, tell })
    await syncAll(unfinished)
    await rename(unfinished, target)
    await syncDirectory(dirname(target))
    const rows = manifest.database.tables.reduce((sum, table) => sum + table.rows, 0)
    const { count, bytes, missing } = manifest.packs
    print(`${target}: ${rows} rows, ${count} packs, ${bytes} bytes of packs`)
    if (missing > 0) print(`${missing} packs are listed and not stored, and so not in the backup: run verify`)
    if (damaged > 0)
      print(`${damaged} packs were damaged before they were copied: run verify, keep older backups`)
    return missing + damaged > 0 ? 1 : 0
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

interface Filling extends ReturnType<typeof placesOf> {
  withoutMissing: boolean
  tell(line: string): void
}

interface Held {
  id: string
  bytes: number
  files: PackFile[]
}

/** The database comes first: what it lists is there, and stays as it is. */
async function fill(directory: string, { dataDir, database, withoutMissing, tell }: Filling) {
  const packs = createLocalPackStore(dataDir)
  await using held = await holdPacks(packs, dataDir)
  const heldList = join(directory, 'held.jsonl')
  let missing = 0

  const written = await (async () => {
    await using snapshot = await openSnapshot<Schema>(database)
    if (snapshot.schemaVersion === 0) throw new Unfit('The database is empty: there is nothing to back up')
    async function* holdAll() {
      for await (const { id, bytes } of listedPacks(snapshot.db)) {
        try {
          yield JSON.stringify({ id, bytes, files: await held.hold(id) } satisfies Held)
        } catch (error) {
          if (!(error instanceof PackMissing)) throw error
          if (!withoutMissing)
            throw new Unfit(
              `Pack ${id} is listed and not stored: run verify to see which repositories that concerns, ` +
                'put it back, or go on with --without-missing',
            )
          missing++
        }
      }
    }
    const createdAt = new Date().toISOString()
    // First the links: what the moment lists must not go while the tables are written.
    const { lines } = await writeLines(heldList, holdAll())
    tell(`Writing the tables of the database; ${lines} packs are listed`)
    const tables = await writeTables(snapshot, directory)
    const { dialect, schemaVersion } = snapshot
    return { createdAt, count: lines, database: { dialect, schemaVersion, tables } }
  })()

  tell('Copying packs')
  const copied = await copyPacks(heldList, directory, tell)
  await rm(heldList)
  const secrets: Manifest['secrets'] = []
  for (const name of SECRETS)
    if (await exists(join(dataDir, name)))
      secrets.push({ name, ...(await copyWhole(join(dataDir, name), join(directory, name))) })
  const { createdAt, count, database: tables } = written
  const manifest: Manifest = {
    format: 'trellis-backup',
    version: 1,
    createdAt,
    database: tables,
    packs: { count, bytes: copied.bytes, missing, list: copied.list },
    secrets,
  }
  await writeLines(join(directory, MANIFEST), [JSON.stringify(manifest, null, 2)])
  return { manifest, damaged: copied.damaged }
}

/** The file system writes its journal for several files as for one. */
const SYNCED_AT_ONCE = 8

async function copyPacks(heldList: string, directory: string, tell: (line: string) => void) {
  const copies = createLocalPackStore(directory)
  const progress = createProgress(tell, 'packs copied')
  let bytes = 0
  let damaged = 0
  async function copyPack({ id, bytes: recorded, files }: Held): Promise<string> {
    const line: PackLine = { id, bytes: recorded, files: [] }
    for (const { name, path } of files) {
      const digest = await copyWhole(path, join(directory, 'packs', name), 0o400)
      bytes += digest.bytes
      line.files.push({ name, ...digest })
    }
    // Read once more: both what was there and what was written must be right.
    if (await copies.examine({ id, bytes: recorded }, {})) {
      damaged++
      tell(`  pack ${id} is damaged`)
    }
    progress.step()
    return JSON.stringify(line)
  }
  async function* copyAll() {
    for await (const group of inGroups(readHeld(heldList), SYNCED_AT_ONCE))
      yield* await Promise.all(group.map(copyPack))
  }
  const { lines: _count, ...list } = await writeLines(join(directory, PACK_LIST), copyAll())
  return { bytes, damaged, list }
}

async function* readHeld(path: string): AsyncGenerator<Held> {
  const file = await open(path, 'r')
  for await (const line of file.readLines()) yield JSON.parse(line) as Held
}

/** Names of files are safe when their directories are. */
async function syncAll(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (entry.isDirectory()) await syncAll(join(directory, entry.name))
  await syncDirectory(directory)
}
