import { setImmediate } from 'node:timers/promises'
import { ExtensionName } from '@trellis/contract'
import { type Oid, parseTreePath } from '../git/names.ts'
import type { TreeEntry } from '../git/objects/format.ts'
import { ObjectMissing, type ObjectReader, ObjectTooLarge } from '../git/objects/reader.ts'
import { createRecent } from '../platform/recent.ts'
import type { ExtensionDescriptor, WebhookDescriptor } from './descriptor-schema.ts'
import { type Parsed, parseExtension, parseWebhook } from './descriptors.ts'
import type { Problem } from './problems.ts'

const MAX_EXTENSIONS = 256
const MAX_WEBHOOKS = 64
const MAX_DESCRIPTOR_BYTES = 64 * 1024
/** Folders that are looked into; there may be some without a descriptor. */
const MAX_FOLDERS = 1024

/** A folder with a descriptor in it. */
interface Found<Descriptor> {
  name: string
  path: string
  /** Of everything in the folder. */
  folder: Oid
  descriptorPath: string
  descriptor: Descriptor
  /** As it was written. */
  json: unknown
}

export type FoundExtension = Found<ExtensionDescriptor>
export type FoundWebhook = Found<WebhookDescriptor>

/** Something wrong with one folder, because of which it is left out. */
export interface FolderProblem extends Problem {
  folder: string
}

export interface Reading {
  extensions: FoundExtension[]
  webhooks: FoundWebhook[]
  problems: FolderProblem[]
}

export type CommitReader = ReturnType<typeof createCommitReader>

/** What the commit declares, straight from its objects. What is wrong with one folder says nothing about another. */
export function createCommitReader() {
  const extensions = createFolderReader<ExtensionDescriptor>({
    root: 'extensions',
    file: 'extension.json',
    max: MAX_EXTENSIONS,
    parse: parseExtension,
  })
  const webhooks = createFolderReader<WebhookDescriptor>({
    root: 'webhooks',
    file: 'webhook.json',
    max: MAX_WEBHOOKS,
    parse: (file, _name, bytes) => parseWebhook(file, bytes),
  })

  return async (objects: ObjectReader, commit: Oid): Promise<Reading> => {
    const root = await objects.findDirectory(commit)
    if (!root) throw new ObjectMissing(commit)
    const [found, hooks] = [await extensions(objects, root), await webhooks(objects, root)]
    const { kept, problems } = withoutSecondRecords(found.found)
    return {
      extensions: kept,
      webhooks: hooks.found,
      problems: [...found.problems, ...problems, ...hooks.problems],
    }
  }
}

interface Kind<Descriptor> {
  root: string
  file: string
  max: number
  parse(file: string, name: string, bytes: Uint8Array): Parsed<Descriptor>
}

const PARSED_KEPT = 2000
const PARSED_KEPT_BYTES = 32 * 1024 * 1024

function createFolderReader<Descriptor>({ root, file, max, parse }: Kind<Descriptor>) {
  /** By the id of the file and the name it is read under: most commits change none of them. */
  const parsed = createRecent<string, { result: Parsed<Descriptor>; bytes: number }>({
    maxEntries: PARSED_KEPT,
    weight: { of: ({ bytes }) => bytes, max: PARSED_KEPT_BYTES },
  })

  /** Its descriptor, or why there is none that can be used; undefined for a folder without one. */
  async function readFolder(
    objects: ObjectReader,
    entry: TreeEntry,
  ): Promise<{ path: string; result: Parsed<Descriptor> } | undefined> {
    const path = `${root}/${entry.name}`
    const refused = (at: string, message: string) => ({ path, result: { problems: [{ path: at, message }] } })
    if (entry.mode === '120000') return refused(path, 'A symbolic link is not followed')
    if (entry.type === 'commit') return refused(path, 'A submodule is not part of the commit')
    if (entry.type === 'blob') return undefined
    const inside = await objects.findTree(entry.oid)
    if (!inside) throw new ObjectMissing(entry.oid)
    const descriptor = inside.find(({ name }) => name === file)
    if (!descriptor) return undefined
    const descriptorPath = `${path}/${file}`
    if (entry.rawName || !ExtensionName.safeParse(entry.name).success || !parseTreePath(path))
      return refused(path, 'A name has up to 64 letters, digits, dots, dashes and underscores')
    if (descriptor.mode === '120000') return refused(descriptorPath, 'A symbolic link is not followed')
    if (descriptor.type !== 'blob') return refused(descriptorPath, 'This is not a file')

    const key = `${descriptor.oid} ${entry.name}`
    const known = parsed.get(key)
    if (known) return { path, result: known.result }
    const bytes = await objects.findBlob(descriptor.oid, MAX_DESCRIPTOR_BYTES)
    if (!bytes) throw new ObjectMissing(descriptor.oid)
    const result = parse(descriptorPath, entry.name, bytes)
    parsed.set(key, { result, bytes: bytes.length + 1000 })
    // To check one may take milliseconds, and others wait.
    await setImmediate()
    return { path, result }
  }

  return async (objects: ObjectReader, rootEntries: readonly TreeEntry[]) => {
    const found: Found<Descriptor>[] = []
    const problems: FolderProblem[] = []
    const top = rootEntries.find(({ name }) => name === root)
    if (top && (top.mode === '120000' || top.type === 'commit'))
      problems.push({ folder: root, path: root, message: 'A symbolic link or submodule is not followed' })
    if (top?.type !== 'tree') return { found, problems }
    const entries = await objects.findTree(top.oid)
    if (!entries) throw new ObjectMissing(top.oid)
    const folders = entries.filter(({ mode, type }) => type !== 'blob' || mode === '120000')
    if (folders.length > MAX_FOLDERS)
      problems.push({
        folder: root,
        path: root,
        message: `Only the first ${MAX_FOLDERS} of ${folders.length} folders are looked at`,
      })
    for (const entry of folders.slice(0, MAX_FOLDERS)) {
      const path = `${root}/${entry.name}`
      const tell = (problem: Problem) => problems.push({ folder: path, ...problem })
      const read = await readFolder(objects, entry).catch((error: unknown) => {
        if (!(error instanceof ObjectTooLarge)) throw error
        tell({
          path: `${path}/${file}`,
          message: `This has ${error.size} bytes, and may have ${error.limit}`,
        })
      })
      if (!read) continue
      if (read.result.problems) read.result.problems.forEach(tell)
      else if (found.length === max)
        tell({ path: `${path}/${file}`, message: `A repository has up to ${max} ${root}` })
      else {
        const { descriptor, json } = read.result
        const descriptorPath = `${path}/${file}`
        found.push({ name: entry.name, path, folder: entry.oid, descriptorPath, descriptor, json })
      }
    }
    return { found, problems }
  }
}

/** A record belongs to one extension: the first by name. */
function withoutSecondRecords(found: readonly FoundExtension[]) {
  const owners = new Map<string, string>()
  const kept: FoundExtension[] = []
  const problems: FolderProblem[] = []
  for (const extension of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const record = extension.descriptor.record?.name
    const owner = record && owners.get(record)
    if (owner)
      problems.push({
        folder: extension.path,
        path: `${extension.descriptorPath}#/record/name`,
        message: `The record ${record} is declared by ${owner} already`,
      })
    else kept.push(extension)
    if (record && !owner) owners.set(record, extension.name)
  }
  return { kept, problems }
}
