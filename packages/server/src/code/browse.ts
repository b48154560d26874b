import { isUtf8 } from 'node:buffer'
import { type Commit, MAX_BLOB_BYTES } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { type Oid, parseOid, type TreePath } from '../git/names.ts'
import { compareCommits, compareObjects, completeComparison } from '../git/objects/compare.ts'
import { type ListedCommit, readCommits } from '../git/objects/history.ts'
import { ObjectMissing, type ObjectReader, withObjects } from '../git/objects/reader.ts'
import { createHistoryPages } from '../git/objects/walk/pages.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import {
  type BrowsingDeps,
  type Paged,
  presentChange,
  readPlace,
  refuseLarge,
  requirePath,
  writePlace,
} from './browsing.ts'
import { type DirectoryInput, withDirectoryPage } from './directory-pages.ts'
import { directoryName } from './repositories.ts'

/** What is in a directory, or below it. */
interface ListedEntry {
  path: string
  type: 'blob' | 'tree'
  oid: string
  size?: number
}

interface ShownBlob {
  oid: Oid
  size: number
  encoding: 'utf-8' | 'base64'
  content: string
}

/** Whoever waits for an answer. To hear of their leaving costs something, so it is asked for where there is work to do. */
interface Asker {
  readonly signal: AbortSignal
}

/** All of it is in memory. */
const MAX_LISTED = 50_000

export type BrowseService = ReturnType<typeof createBrowseService>

/** Reading history and contents without a clone. */
export function createBrowseService(deps: BrowsingDeps) {
  const { repos, repositories, revisions } = deps
  const pages = createHistoryPages()
  const missing = (repo: RepoRow, object: string) =>
    new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object })

  return {
    async listCommits(
      caller: Caller,
      input: Paged & { name: string; ref?: string | undefined; path?: string | undefined },
      signal: AbortSignal,
    ) {
      const path = input.path === undefined ? undefined : requirePath(input.path)
      const repo = await repos.open(caller, input.name, 'repo:read')
      const place = readPlace(input.cursor)
      // Nothing is wrong with an empty repository: it has no commits.
      if (!place && input.ref === undefined && !(await revisions.findOid(repo, undefined)))
        return { items: [], nextCursor: null }
      const skip = place?.offset ?? 0
      const pageFrom = (from: Oid) => ({
        scope: directoryName(repo),
        from,
        skip,
        limit: input.limit,
        ...(path && { path }),
      })
      const near = await repositories.withObjects(repo, signal, async (objects) => {
        const from = place
          ? (await objects.findCommit(place.oid)) && place.oid
          : await revisions.commitIn(objects, repo, input.ref)
        const page = from && (await pages.find(objects, pageFrom(from), signal))
        return { from, page: page && (await readPage(objects, page)) }
      })
      const { from } = near
      if (!from) return { items: [], nextCursor: null }
      const page =
        near.page ??
        (await repositories.withGit(repo, signal, async (opened) => {
          const listed = await pages.ask(opened, pageFrom(from))
          return withObjects(opened, (objects) => readPage(objects, listed))
        }))
      return {
        items: page.commits.map(presentCommit),
        nextCursor: page.more ? writePlace({ oid: from, offset: skip + page.read }) : null,
      }
    },

    async getCommit(caller: Caller, input: { name: string; ref: string }, asker: Asker): Promise<Commit> {
      const repo = await repos.open(caller, input.name, 'repo:read')
      const located = await revisions.locate(repo, input.ref)
      const look = (): Promise<Commit> =>
        repositories.withObjects(repo, asker.signal, async (objects) => {
          const oid = await revisions.commitFrom(objects, repo, located)
          const commit = await objects.findCommit(oid)
          if (!commit) throw missing(repo, input.ref)
          return presentCommit({ oid, ...commit })
        })
      return repositories.show(repo, `commit ${located.oid}`, { look, sizeOf: sizeOfCommit })
    },

    getTree: (caller: Caller, input: DirectoryInput, signal: AbortSignal) =>
      withDirectoryPage(deps, caller, input, signal, async (page) => {
        const { objects, commit, path, entries, nextCursor } = page
        const items = (await objects.addSizes(entries)).map(({ name, mode, type, oid, size }) => ({
          name,
          path: path ? `${path}/${name}` : name,
          mode,
          type,
          oid,
          ...(size !== undefined && { size }),
        }))
        return { commit, items, nextCursor }
      }),

    /** A directory, with everything below it when `recursive`. Without those parts that are other repositories. */
    async listTree(
      caller: Caller,
      input: { name: string; ref?: string | undefined; path?: string | undefined; recursive: boolean },
      signal: AbortSignal,
    ): Promise<ListedEntry[]> {
      const path = input.path === undefined ? undefined : requirePath(input.path)
      const repo = await repos.open(caller, input.name, 'repo:read')
      return repositories.withObjects(repo, signal, async (objects) => {
        const commit = await revisions.commitIn(objects, repo, input.ref)
        const found: ListedEntry[] = []
        const pending = [path]
        for (let at = pending.shift(), isFirst = true; isFirst || at; at = pending.shift()) {
          const entries = await objects.findDirectory(commit, at).catch(refuseLarge)
          if (!entries && isFirst) throw missing(repo, at ?? commit)
          isFirst = false
          for (const { name, type, oid, size } of await objects.addSizes(entries ?? [])) {
            if (type !== 'blob' && type !== 'tree') continue
            const below = (at ? `${at}/${name}` : name) as TreePath
            found.push({ path: below, type, oid, ...(size !== undefined && { size }) })
            if (type === 'tree' && input.recursive) pending.push(below)
          }
          if (found.length > MAX_LISTED) refuseLong(found.length)
        }
        return found
      })
    },

    async getBlob(
      caller: Caller,
      input: { name: string; oid?: string | undefined; ref?: string | undefined; path?: string | undefined },
      asker: Asker,
    ) {
      if ((input.oid === undefined) === (input.path === undefined))
        throw invalid([], 'Give either oid, or path with an optional ref')
      const path = input.path === undefined ? undefined : requirePath(input.path)
      const repo = await repos.open(caller, input.name, 'repo:read')
      const wanted = input.oid ?? input.path ?? ''
      const located = path && (await revisions.locate(repo, input.ref))
      const look = (): Promise<ShownBlob> =>
        repositories.withObjects(repo, asker.signal, async (objects) => {
          const commit = located && (await revisions.commitFrom(objects, repo, located))
          const entry = commit && (await objects.findAt(commit, path))
          const oid = commit ? entry?.oid : parseOid(wanted)
          const bytes = oid && (await objects.findBlob(oid, MAX_BLOB_BYTES).catch(refuseLarge))
          if (entry && entry.type === 'blob' && !bytes) throw new ObjectMissing(oid)
          if (!oid || !bytes) throw missing(repo, wanted)
          return { oid, size: bytes.length, ...encode(bytes) }
        })
      const key = located ? `blob ${located.oid}:${path}` : `blob ${wanted}`
      return repositories.show(repo, key, { look, sizeOf: ({ content }) => content.length })
    },

    async compare(
      caller: Caller,
      input: { name: string; base: string; head: string; mode: 'two-dot' | 'three-dot'; patches: boolean },
      signal: AbortSignal,
    ) {
      const repo = await repos.open(caller, input.name, 'repo:read')
      const options = { mode: input.mode, ...(!input.patches && { maxTotalBytes: 0 }) }
      const { known, ...asked } = await repositories.withObjects(repo, signal, async (objects) => {
        const base = await revisions.commitIn(objects, repo, input.base)
        const head = await revisions.commitIn(objects, repo, input.head)
        const known = await compareObjects(objects, { base, head, ...options }, signal)
        return { base, head, ...options, known }
      })
      const { base, head } = asked
      const found =
        completeComparison(asked, known) ??
        (await repositories.withGit(repo, signal, (opened) => compareCommits(opened, asked, known)))
      return {
        base,
        head,
        mergeBase: found.mergeBase ?? null,
        ahead: found.ahead,
        behind: found.behind,
        commits: found.commits.map(presentCommit),
        moreCommits: found.moreCommits,
        files: found.files.map(presentChange),
        filesTruncated: found.truncated,
        total: found.total,
      }
    },
  }
}

/** A page of long messages is a short one. */
async function readPage(objects: ObjectReader, { oids, more }: { oids: readonly Oid[]; more: boolean }) {
  const { commits, read } = await readCommits(objects, oids)
  return { commits, read, more: more || read < oids.length }
}

function presentCommit({ oid, tree, parents, author, committer, message, signed }: ListedCommit): Commit {
  return { oid, tree, parents, author, committer, message, signed }
}

/** Beside the message, names and addresses are all that may be long. */
const sizeOfCommit = ({ message, author, committer, parents }: Commit): number =>
  message.length + JSON.stringify([author, committer, parents]).length

function refuseLong(observed: number): never {
  throw new Fault(
    'PAYLOAD_TOO_LARGE',
    { scope: 'git_workspace_memory', limit: MAX_LISTED, observed },
    { message: `More than ${MAX_LISTED} files and directories are below: list them one by one` },
  )
}

/** Text as text, everything else as base64. */
function encode(bytes: Buffer): { encoding: 'utf-8' | 'base64'; content: string } {
  return isUtf8(bytes)
    ? { encoding: 'utf-8', content: bytes.toString('utf8') }
    : { encoding: 'base64', content: bytes.toString('base64') }
}
