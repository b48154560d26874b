// What is handed out as it is made: archives of a commit, and files too large to hold.

import type { Oid } from '../names.ts'
import { inBursts } from '../process/bursts.ts'
import type { OpenRepo } from '../process/command.ts'

export type ArchiveFormat = 'zip' | 'tar.gz'

interface ArchiveRequest {
  commit: Oid
  format: ArchiveFormat
  /** The folder that everything in it is in. */
  folder: string
}

/** All files of a commit, without those that its attributes leave out. */
export async function* streamArchive(
  repo: OpenRepo,
  { commit, format, folder }: ArchiveRequest,
): AsyncGenerator<Buffer, void, undefined> {
  await using child = await repo.start({
    verb: 'archive',
    options: [`--format=${format}`, `--prefix=${folder}/`],
    values: [commit],
  })
  yield* inBursts(child.stdout)
  await child.done
}

export async function* streamBlob(repo: OpenRepo, oid: Oid): AsyncGenerator<Buffer, void, undefined> {
  await using child = await repo.start({
    verb: 'cat-file',
    options: ['blob'],
    values: [oid],
    work: 'download',
  })
  yield* inBursts(child.stdout)
  await child.done
}
