import type { Caller } from '../access/caller.ts'
import {
  branchRef,
  type Oid,
  parseBranchName,
  parseOid,
  parseRefName,
  parseTagName,
  type RefName,
  shortRef,
  type TreePath,
  tagRef,
} from '../git/names.ts'
import type { ObjectReader } from '../git/objects/reader.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import { type BrowsingDeps, refuseLarge, requirePath } from './browsing.ts'

/** As many parts of an address as the name of a ref is looked for in. */
const MAX_REF_PARTS = 32

interface Found {
  ref: string
  type: 'branch' | 'tag' | 'other' | 'commit'
}

export type LocatingService = ReturnType<typeof createLocatingService>

/** Takes addresses apart in which a ref, which may have slashes, stands before a path. */
export function createLocatingService({ repos, repositories, revisions }: BrowsingDeps) {
  /** What a ref of this name is; branches first, as everywhere. */
  async function typeOf(repo: RepoRow, name: string): Promise<Found['type'] | undefined> {
    if (parseOid(name)) return 'commit'
    const [full, branch, tag] = [parseRefName(name), parseBranchName(name), parseTagName(name)]
    for (const ref of [full, branch && branchRef(branch), tag && tagRef(tag)] as (RefName | undefined)[])
      if (ref && (await repositories.findOid(repo, ref))) return shortRef(ref).type
    return undefined
  }

  /** The longest beginning that is a ref. */
  async function findRef(repo: RepoRow, parts: string[]): Promise<Found | undefined> {
    for (let count = Math.min(parts.length, MAX_REF_PARTS); count > 0; count--) {
      const ref = parts.slice(0, count).join('/')
      const type = await typeOf(repo, ref)
      if (type) return { ref, type }
    }
    return undefined
  }

  async function entryAt(objects: ObjectReader, commit: Oid, path: TreePath) {
    const slash = path.lastIndexOf('/')
    const folder = slash < 0 ? undefined : (path.slice(0, slash) as TreePath)
    const entries = await objects.findDirectory(commit, folder).catch(refuseLarge)
    const found = entries?.find(({ name }) => name === path.slice(slash + 1))
    if (!found) return null
    const { name, mode, type, oid } = found
    const [sized] = await objects.addSizes([found])
    return { name, path, mode, type, oid, ...(sized?.size !== undefined && { size: sized.size }) }
  }

  return {
    async locate(caller: Caller, input: { name: string; address: string }, signal: AbortSignal) {
      const repo = await repos.open(caller, input.name, 'repo:read')
      const parts = input.address.split('/')
      const found = await findRef(repo, parts)
      if (!found) throw new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: input.address })
      const rest = parts.slice(found.ref.split('/').length).join('/')
      const path = rest === '' ? undefined : requirePath(rest)
      return repositories.withObjects(repo, signal, async (objects) => {
        const commit = await revisions.commitIn(objects, repo, found.ref)
        return { ...found, commit, path: rest, entry: path ? await entryAt(objects, commit, path) : null }
      })
    },
  }
}
