import { MAX_BLOB_BYTES } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { Oid } from '../git/names.ts'
import { type ArchiveFormat, streamArchive, streamBlob } from '../git/objects/downloads.ts'
import { ObjectMissing } from '../git/objects/reader.ts'
import type { OpenRepo } from '../git/process/command.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import { type BrowsingDeps, requirePath } from './browsing.ts'

type Chunks = AsyncGenerator<Buffer, void, undefined>

/** A file: all of it, or as it comes. */
type RawFile = { oid: Oid; fileName: string; size: number } & ({ bytes: Buffer } | { stream(): Chunks })

export type DownloadsService = ReturnType<typeof createDownloadsService>

/** What is read as it is, and not as JSON. */
export function createDownloadsService({ repos, repositories, revisions }: BrowsingDeps) {
  /** Holds the repository's directory until the last chunk is taken. */
  async function* under(repo: RepoRow, signal: AbortSignal, produce: (opened: OpenRepo) => Chunks): Chunks {
    using _lease = await repositories.lease(repo)
    try {
      yield* produce(repositories.openLeased(repo, signal))
    } catch (error) {
      throw await repositories.diagnose(repo, error)
    }
  }

  return {
    async openArchive(
      caller: Caller,
      input: { name: string; ref?: string | undefined; format: ArchiveFormat },
      signal: AbortSignal,
    ): Promise<{ fileName: string; stream(): Chunks }> {
      const repo = await repos.open(caller, input.name, 'repo:read')
      const { format } = input
      const commit = await revisions.commitAt(repo, input.ref, signal)
      const folder = `${repo.name}-${plainName(input.ref ?? repo.default_branch)}`
      return {
        fileName: `${folder}.${format}`,
        stream: () => under(repo, signal, (opened) => streamArchive(opened, { commit, format, folder })),
      }
    },

    async openFile(
      caller: Caller,
      input: { name: string; ref?: string | undefined; path: string },
      signal: AbortSignal,
    ): Promise<RawFile> {
      const path = requirePath(input.path)
      const repo = await repos.open(caller, input.name, 'repo:read')
      return repositories.withObjects(repo, signal, async (objects) => {
        const commit = await revisions.commitIn(objects, repo, input.ref)
        const entry = await objects.findAt(commit, path)
        if (entry?.type !== 'blob')
          throw new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: input.path })
        const { oid, size } = entry
        const file = { oid, size, fileName: path.slice(path.lastIndexOf('/') + 1) }
        if (size > MAX_BLOB_BYTES)
          return { ...file, stream: () => under(repo, signal, (opened) => streamBlob(opened, oid)) }
        const bytes = await objects.findBlob(oid, MAX_BLOB_BYTES)
        if (!bytes) throw new ObjectMissing(oid)
        return { ...file, bytes }
      })
    },
  }
}

const MAX_NAME = 100

/** What a revision may be called in the name of a file. */
const plainName = (revision: string): string =>
  revision
    .replace(/^refs\/(heads|tags)\//, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, MAX_NAME)
