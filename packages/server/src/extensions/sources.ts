import { posix } from 'node:path'
import { type Oid, parseTreePath, type TreePath } from '../git/names.ts'
import type { TreeEntry } from '../git/objects/format.ts'
import { ObjectMissing, type ObjectReader, ObjectTooLarge } from '../git/objects/reader.ts'
import type { Answer } from './builder.ts'

const MAX_SOURCES = 500
const MAX_SOURCE_BYTES = 4 * 1024 * 1024
/** Directories that are looked into for one build. */
const MAX_DIRECTORIES = 1000

const ENDINGS = ['.ts', '.tsx', '.mts', '.js', '.mjs', '.jsx', '.json']
/** What TypeScript means by the name of a file that is yet to be made of it. */
const WRITTEN_AS: Record<string, string[]> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
}

/** Every path that was looked at, and what was there: null for nothing that could be imported. */
export type Inputs = ReadonlyMap<string, Oid | null>

/** The files of a commit as imports find them, within the bounds of one build. */
export function createSources(
  objects: ObjectReader,
  commit: Oid,
  /** The folder of the module. */
  { path: folderPath, folder }: { path: string; folder: Oid },
): { answer: Answer; inputs: Inputs } {
  const directories = new Map<string, Promise<ReadonlyMap<string, TreeEntry>>>()
  const inputs = new Map<string, Oid | null>()
  const read = new Map<string, Promise<Buffer>>()
  const given = new Set<string>()
  let bytes = 0

  async function readDirectory(path: string): Promise<ReadonlyMap<string, TreeEntry>> {
    const at = path === '.' ? undefined : parseTreePath(path)
    if (at === undefined && path !== '.') return new Map()
    const entries = await (path === folderPath
      ? objects.findTree(folder)
      : objects.findDirectory(commit, at as TreePath | undefined))
    return new Map((entries ?? []).flatMap((entry) => (entry.rawName ? [] : [[entry.name, entry]])))
  }

  async function find(path: string): Promise<TreeEntry | undefined> {
    const directory = posix.dirname(path)
    let entries = directories.get(directory)
    if (!entries) {
      if (directories.size >= MAX_DIRECTORIES) throw new Refused('A build looks into too many directories')
      entries = readDirectory(directory)
      directories.set(directory, entries)
    }
    const entry = (await entries).get(posix.basename(path))
    inputs.set(path, entry?.type === 'blob' ? entry.oid : null)
    if (entry?.mode === '120000') throw new Refused(`${path} is a symbolic link, which is not followed`)
    if (entry?.type === 'commit') throw new Refused(`${path} is a submodule, which is not part of the commit`)
    return entry
  }

  async function resolve(path: string, specifier: string): Promise<TreeEntry & { path: string }> {
    const isFolder = /(^|\/)\.{0,2}$/.test(specifier)
    for (const candidate of isFolder ? inFolder(path) : candidates(path)) {
      const entry = await find(candidate)
      if (entry?.type === 'blob') return { ...entry, path: candidate }
    }
    throw new Refused(`Could not resolve "${specifier}": there is no such file in the commit`)
  }

  /** Asks how large it is before it is read: many may be asked for at once. */
  async function readFile(path: string, oid: Oid): Promise<Buffer> {
    const [info] = await objects.listInfo([oid])
    bytes += info?.size ?? 0
    if (bytes > MAX_SOURCE_BYTES) throw new Refused(TOO_LARGE)
    const contents = await objects.findBlob(oid, MAX_SOURCE_BYTES)
    if (!contents) throw new ObjectMissing(path)
    return contents
  }

  function load(path: string, oid: Oid): Promise<Buffer> {
    const known = read.get(path)
    if (known) return known
    if (read.size >= MAX_SOURCES) throw new Refused(`A module is made of up to ${MAX_SOURCES} files`)
    const contents = readFile(path, oid)
    read.set(path, contents)
    return contents
  }

  return {
    inputs,
    async answer(specifier, importer) {
      try {
        const path =
          importer === undefined ? specifier : posix.normalize(`${posix.dirname(importer)}/${specifier}`)
        if (/^(\.\.)?(\/|$)/.test(path))
          throw new Refused(`Could not resolve "${specifier}": it leads out of the repository`)
        const entry = await resolve(path.replace(/\/$/, ''), specifier)
        const contents = await load(entry.path, entry.oid)
        const isNew = !given.has(entry.path)
        given.add(entry.path)
        return { file: { path: entry.path, ...(isNew && { contents }) } }
      } catch (error) {
        if (error instanceof Refused) return { problem: error.message }
        if (error instanceof ObjectTooLarge) return { problem: TOO_LARGE }
        throw error
      }
    },
  }
}

class Refused extends Error {}

const TOO_LARGE = `The files of a module have up to ${MAX_SOURCE_BYTES / 1024 / 1024} MB together`

function candidates(path: string): string[] {
  const ending = posix.extname(path)
  const base = path.slice(0, path.length - ending.length)
  const rewritten = (WRITTEN_AS[ending] ?? []).map((other) => base + other)
  return [path, ...rewritten, ...ENDINGS.map((other) => path + other), ...inFolder(path)]
}

const inFolder = (path: string): string[] => ENDINGS.map((ending) => posix.join(path, `index${ending}`))
