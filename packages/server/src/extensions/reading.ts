import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { ExtensionName } from '@trellis/contract'
import { type Oid, parseTreePath } from '../git/names.ts'
import type { TreeEntry } from '../git/objects/format.ts'
import { ObjectMissing, type ObjectReader, ObjectTooLarge } from '../git/objects/reader.ts'
import type { Sha256 } from '../platform/hashes.ts'
import { createRecent } from '../platform/recent.ts'
import type { ExtensionDescriptor, WebhookDescriptor } from './descriptor-schema.ts'
import { type Parsed, parseExtension, parseWebhook } from './descriptors.ts'
import type { Problem } from './problems.ts'

const MAX_EXTENSIONS = 256
const MAX_WEBHOOKS = 64
const MAX_DESCRIPTOR_BYTES = 64 * 1024
/** Most take a tenth of it. */
const SLOW_MS = 3
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
  /** As it was written, and the hash of that. */
  json: unknown
  descriptorHash: Sha256
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

const PARSED_KEPT = 2000
const PARSED_KEPT_BYTES = 32 * 1024 * 1024

/** What the commit declares, straight from its objects. What is wrong with one folder says nothing about another. */
export function createCommitReader() {
  const readings = createRecent<Oid, { reading: Reading; bytes: number }>({
    maxEntries: PARSED_KEPT,
    weight: { of: ({ bytes }) => bytes + 1000, max: PARSED_KEPT_BYTES },
  })
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

  return {
    /** What was read of it before, without looking at an object. */
    recall: (commit: Oid): Reading | undefined => readings.get(commit)?.reading,

    async read(objects: ObjectReader, commit: Oid): Promise<Reading> {
      const root = await objects.findDirectory(commit)
      if (!root) throw new ObjectMissing(commit)
      const [found, hooks] = [await extensions(objects, root), await webhooks(objects, root)]
      const { kept, problems } = withoutSecondRecords(found.found)
      const reading = {
        extensions: kept,
        webhooks: hooks.found,
        problems: [...found.problems, ...problems, ...hooks.problems],
      }
      readings.set(commit, { reading, bytes: found.bytes + hooks.bytes })
      return reading
    },
  }
}

interface Kind<Descriptor> {
  root: string
  file: string
  max: number
  parse(file: string, name: string, bytes: Uint8Array): Parsed<Descriptor>
}

interface Folders<Descriptor> {
  found: Found<Descriptor>[]
  problems: FolderProblem[]
  /** What it takes to keep this. */
  bytes: number
}

function createFolderReader<Descriptor>({ root, file, max, parse }: Kind<Descriptor>) {
  /** By the id of the file and the name it is read under: most commits change none of them. */
  const parsed = createRecent<string, { result: Parsed<Descriptor>; bytes: number }>({
    maxEntries: PARSED_KEPT,
    weight: { of: ({ bytes }) => bytes + 1000, max: PARSED_KEPT_BYTES },
  })

  /** By the id of the folder of all of them: between most commits it does not change. */
  const kept = createRecent<Oid, Folders<Descriptor>>({
    maxEntries: PARSED_KEPT,
    weight: { of: ({ bytes }) => bytes, max: PARSED_KEPT_BYTES },
  })

  /** Its descriptor, or why there is none that can be used; undefined for a folder without one. */
  async function readFolder(
    objects: ObjectReader,
    entry: TreeEntry,
  ): Promise<{ result: Parsed<Descriptor>; bytes: number } | undefined> {
    const path = `${root}/${entry.name}`
    const refused = (at: string, message: string) => ({
      result: { problems: [{ path: at, message }] },
      bytes: 0,
    })
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
    if (known) return known
    const bytes = await objects.findBlob(descriptor.oid, MAX_DESCRIPTOR_BYTES)
    if (!bytes) throw new ObjectMissing(descriptor.oid)
    const began = performance.now()
    const result = parse(descriptorPath, entry.name, bytes)
    const tookMs = performance.now() - began
    const read = { result, bytes: bytes.length }
    parsed.set(key, read)
    // One that is made to take long may be followed by a thousand of the same, and others wait.
    await (tookMs > SLOW_MS ? sleep(tookMs) : setImmediate())
    return read
  }

  async function readAll(objects: ObjectReader, tree: Oid): Promise<Folders<Descriptor>> {
    const found: Found<Descriptor>[] = []
    const problems: FolderProblem[] = []
    let bytes = 0
    const entries = await objects.findTree(tree)
    if (!entries) throw new ObjectMissing(tree)
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
      bytes += read.bytes + 1000
      if (read.result.problems) read.result.problems.forEach(tell)
      else if (found.length === max)
        tell({ path: `${path}/${file}`, message: `A repository has up to ${max} ${root}` })
      else {
        const { descriptor, json, hash: descriptorHash } = read.result
        const descriptorPath = `${path}/${file}`
        const { name, oid: folder } = entry
        found.push({ name, path, folder, descriptorPath, descriptor, json, descriptorHash })
      }
    }
    return { found, problems, bytes }
  }

  return async (objects: ObjectReader, rootEntries: readonly TreeEntry[]): Promise<Folders<Descriptor>> => {
    const top = rootEntries.find(({ name }) => name === root)
    if (top && (top.mode === '120000' || top.type === 'commit')) {
      const message = 'A symbolic link or submodule is not followed'
      return { found: [], problems: [{ folder: root, path: root, message }], bytes: 0 }
    }
    if (top?.type !== 'tree') return { found: [], problems: [], bytes: 0 }
    const known = kept.get(top.oid)
    if (known) return known
    const read = await readAll(objects, top.oid)
    kept.set(top.oid, read)
    return read
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
