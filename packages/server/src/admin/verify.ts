import { mkdir, mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createCodeVerification } from '../code/verification.ts'
import { openDatabase } from '../db/database.ts'
import { verifyEvents } from '../events/verification.ts'
import { createLocalPackStore } from '../git/packs/pack-store.ts'
import { createGit } from '../git/process/command.ts'
import { requireGit } from '../git/process/version.ts'
import { createRepoRegister } from '../repos/register.ts'
import type { Database, Schema } from '../schema.ts'
import { readLines, requireWhole } from './archive/files.ts'
import { PACK_LIST, PackLine, readManifest, tableFile } from './archive/manifest.ts'
import { loadBackup } from './archive/tables.ts'
import { type Circumstances, type Command, createProgress, Unfit } from './command.ts'
import { placesOf, requireInUse } from './places.ts'

export const verify: Command = {
  name: 'verify',
  usage: '[--backup <directory>] [--quick] [--json]',
  about: 'Hold refs, packs, sizes and events against each other, and read every object',
  help: `Looks at the data of the server that the settings are for, which may be running, or at a backup. Changes nothing.

  --backup <directory>   look at a backup instead: also, that all of it is there and reads as it was written
  --quick                compare names and sizes, and read no object
  --json                 a JSON object a line: {"problem": …} for each, {"summary": …} at the end

Exit code 0 when all is well, 1 when something is not, 2 when it could not be found out.`,
  options: {
    backup: { type: 'string' },
    quick: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  positionals: 0,
  run: verifyAll,
}

/** Where a problem is, and what it is. */
interface Problem {
  kind: 'backup' | 'pack' | 'repository' | 'events'
  repositories: string[]
  text: string
}

async function verifyAll({ config, values, print, tell }: Circumstances): Promise<number> {
  await requireGit()
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'trellis-verify-'))
  const counts = { repositories: 0, packs: 0, unlistedPacks: 0, logs: 0, problems: 0 }
  const report = ({ kind, repositories, text }: Problem) => {
    counts.problems++
    if (values.json) print(JSON.stringify({ problem: { kind, repositories, text } }))
    else print(`${repositories.length > 0 ? repositories.join(', ') : kind}: ${text}`)
  }
  const backup = typeof values.backup === 'string' ? resolve(values.backup) : undefined
  const opened = backup
    ? await openBackup(backup, temporary.path, { report, tell })
    : await openLive(placesOf(config))
  if (opened) {
    try {
      const scratch = join(temporary.path, 'repositories')
      await mkdir(scratch)
      await look(opened, { scratch, deep: values.quick !== true, counts, report, tell })
    } finally {
      await opened.database.close()
    }
  }
  if (values.json) print(JSON.stringify({ summary: counts }))
  else
    print(
      `${counts.repositories} repositories, ${counts.packs} packs and ${counts.unlistedPacks} that nobody lists, ` +
        `${counts.logs} logs of events: ${counts.problems || 'no'} problems`,
    )
  return counts.problems > 0 ? 1 : 0
}

interface Opened {
  database: Database
  /** Where `packs/` is. */
  root: string
}

async function openLive(places: ReturnType<typeof placesOf>): Promise<Opened> {
  await requireInUse(places)
  return { database: await openDatabase<Schema>(places.database, { asItIs: true }), root: places.dataDir }
}

type Report = (problem: Problem) => void

/** Undefined when there is nothing to look further into. */
async function openBackup(
  directory: string,
  temporary: string,
  { report, tell }: { report: Report; tell(line: string): void },
): Promise<Opened | undefined> {
  const manifest = await readManifest(directory)
  const damages = async (work: () => Promise<void>) => {
    try {
      await work()
      return false
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!(error instanceof Unfit) && !isGone) throw error
      report({ kind: 'backup', repositories: [], text: (error as Error).message })
      return true
    }
  }
  tell('Reading the files of the backup')
  let isUnfit = false
  for (const table of manifest.database.tables)
    isUnfit = (await damages(() => requireWhole(join(directory, tableFile(table.name)), table))) || isUnfit
  for (const secret of manifest.secrets)
    await damages(() => requireWhole(join(directory, secret.name), secret))
  await damages(async () => {
    for await (const line of readLines(join(directory, PACK_LIST), manifest.packs.list))
      for (const file of PackLine.parse(JSON.parse(line)).files)
        await damages(() => requireWhole(join(directory, 'packs', file.name), file))
  })
  if (isUnfit) return undefined
  tell('Loading its tables')
  const location = { sqlite: join(temporary, 'tables.db') }
  await loadBackup(directory, manifest.database, location)
  return { database: await openDatabase<Schema>(location), root: directory }
}

interface Looking {
  scratch: string
  deep: boolean
  counts: { repositories: number; packs: number; unlistedPacks: number; logs: number }
  report: Report
  tell(line: string): void
}

async function look({ database: { db }, root }: Opened, { scratch, deep, counts, report, tell }: Looking) {
  const register = createRepoRegister({ db })
  const packs = createLocalPackStore(root)
  const code = createCodeVerification({ db, packs, register, git: createGit(), scratch, deep })
  tell('Looking at packs')
  const seenPacks = createProgress(tell, 'packs')
  for await (const problem of code.verifyPacks(seenPacks.step)) report({ kind: 'pack', ...problem })
  counts.packs = seenPacks.count
  counts.unlistedPacks = await code.countUnlisted()
  tell('Looking at repositories')
  const seenRepos = createProgress(tell, 'repositories')
  for await (const problem of code.verifyRepos(seenRepos.step)) report({ kind: 'repository', ...problem })
  counts.repositories = seenRepos.count
  tell('Looking at events')
  const seenLogs = createProgress(tell, 'logs')
  for await (const { repoId, text } of verifyEvents(db, seenLogs.step)) {
    const names = await register.namesOf(repoId ? [repoId] : [])
    report({ kind: 'events', repositories: [...names.values()], text })
  }
  counts.logs = seenLogs.count
}
