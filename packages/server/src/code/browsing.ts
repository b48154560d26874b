import { type Oid, parseOid, parseTreePath, type TreePath } from '../git/names.ts'
import type { FilePatch } from '../git/objects/diff.ts'
import { ObjectTooLarge } from '../git/objects/reader.ts'
import { OutputTooLarge } from '../git/process/command.ts'
import { textCursor } from '../platform/cursors.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { ReposService } from '../repos/service.ts'
import type { Repositories } from './repositories.ts'
import type { Revisions } from './revisions.ts'

// What everybody shares who shows something of a commit.

export interface BrowsingDeps {
  repos: ReposService
  repositories: Repositories
  revisions: Revisions
}

export interface Paged {
  cursor?: string | undefined
  limit: number
}

export function refuseLarge(error: unknown): never {
  if (error instanceof ObjectTooLarge) throw tooLarge(error.limit, error.size)
  // Git was ended then: how much it would have said nobody knows.
  if (error instanceof OutputTooLarge) throw tooLarge(error.limit, error.limit + 1)
  throw error
}

const tooLarge = (limit: number, observed: number) =>
  new Fault('PAYLOAD_TOO_LARGE', { scope: 'git_workspace_memory', limit, observed })

export function requirePath(path: string): TreePath {
  const parsed = parseTreePath(path)
  if (!parsed) throw invalid(['path'], 'This is not a path inside a repository')
  return parsed
}

/** Pages go on from a place in something that never changes, whatever its ref does in between. */
interface Place {
  oid: Oid
  offset: number
}

export const writePlace = ({ oid, offset }: Place): string => textCursor.encode(`${oid}:${offset}`)

export function readPlace(cursor: string | undefined): Place | undefined {
  const [, id = '', offset = ''] = /^([0-9a-f]{40}):(\d{1,15})$/.exec(textCursor.decode(cursor) ?? '') ?? []
  const oid = parseOid(id)
  return oid && { oid, offset: Number(offset) }
}

export const presentChange = ({ from, patch, ...file }: FilePatch) => ({
  path: file.path,
  status: file.status,
  ...(from !== undefined && { previousPath: from }),
  oldMode: file.oldMode,
  newMode: file.newMode,
  oldOid: file.oldOid,
  newOid: file.newOid,
  additions: file.additions,
  deletions: file.deletions,
  binary: file.binary,
  ...(patch !== undefined && { patch }),
})
