import type { GitRef } from '@trellis/contract'
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
  tagRef,
} from '../git/names.ts'
import type { ObjectType } from '../git/objects/format.ts'
import { describeTips, gatherFacts, readFacts, type UpdateFacts } from '../git/objects/push-facts.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Db } from '../schema.ts'
import { isFastForward } from './ancestry.ts'
import { type BranchTurns, Overtaken } from './branch-turns.ts'
import type { Landings, RefChange } from './landing.ts'
import * as refStore from './ref-store.ts'
import type { Repositories } from './repositories.ts'
import type { Revisions } from './revisions.ts'

interface RefsDeps {
  db: Db
  repos: ReposService
  repositories: Repositories
  revisions: Revisions
  landings: Landings
  turns: BranchTurns
}

interface Target {
  oid: Oid
  peeled: Oid | null
  type: ObjectType
  /** Of a commit for a branch. */
  facts?: UpdateFacts | 'unclear'
}

/** Where a ref is to go. */
interface NewPlace {
  oid: string | null
  expectedOid?: string | null | undefined
  force: boolean
}

interface RefPage {
  name: string
  cursor?: string | undefined
  limit: number
}

export type RefsService = ReturnType<typeof createRefsService>

export function createRefsService(deps: RefsDeps) {
  const { db, repos, repositories, revisions, landings, turns } = deps

  async function list(caller: Caller, { name, cursor, limit }: RefPage, prefix: string) {
    const repo = await repos.open(caller, name, 'repo:read')
    const after = textCursor.decode(cursor)
    const resumes = after?.startsWith(prefix) ? after : undefined
    // A page goes on from a ref; when that is gone there is nowhere to go on from.
    if (resumes && !(await refStore.findRef(db, repo.id, resumes as RefName)))
      return { items: [], nextCursor: null, hasMore: false }
    const rows = await refStore.listRefsBelow(db, {
      repoId: repo.id,
      prefix,
      after: resumes ?? '',
      limit: limit + 1,
    })
    const { items, nextCursor } = pageFrom(rows, limit, (ref) => textCursor.encode(ref.name))
    return { items: items.map((ref) => present(ref.name, ref.oid)), nextCursor, hasMore: nextCursor !== null }
  }

  /** Moves one ref and says in the contract's words why it could not. Throws Overtaken. */
  async function move(caller: Caller, repo: RepoRow, change: RefChange): Promise<void> {
    const mover = { caller, means: 'operation' as const }
    const results = await landings.land({ repo, mover, changes: [change], atomic: true })
    const refused = results.get(change.ref)
    if (!refused) return
    if (refused instanceof Fault) throw refused
    const where = { name: repo.name, ref: change.ref }
    throw refused === 'obstructed' ? obstructed(where) : new Overtaken(where)
  }

  /** What a ref is to point to, which must be there, and what it brings to a branch. */
  async function targetOf(
    repo: RepoRow,
    { ref, before, oid }: { ref: RefName; before: Oid | null; oid: string },
    signal: AbortSignal,
  ): Promise<Target> {
    const parsed = parseOid(oid.toLowerCase())
    return repositories.withObjects(repo, signal, async (objects) => {
      const tip = parsed && (await describeTips(objects, [parsed])).get(parsed)
      if (!tip) throw new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object: oid })
      const target = { oid: parsed, ...tip }
      if (parsed === before || !ref.startsWith('refs/heads/') || tip.type !== 'commit') return target
      if (!before) {
        const isKnown = (await repositories.refs(repo)).some((known) => known.oid === parsed)
        return { ...target, facts: isKnown ? nothingNew : 'unclear' }
      }
      // Whatever is odd about it, git will tell.
      const read = await readFacts(objects, { before, after: parsed }).catch(() => undefined)
      return { ...target, facts: read ?? 'unclear' }
    })
  }

  /** From wherever it is now. Throws Overtaken when it moves meanwhile. */
  async function removeOnce(
    caller: Caller,
    repo: RepoRow,
    ref: RefName,
    expected: string | null | undefined,
  ): Promise<{ deleted: boolean }> {
    const current = await repositories.findOid(repo, ref)
    if (!isAsExpected(current ?? null, expected)) throw new Fault('STALE_REF', { name: repo.name, ref })
    if (!current) return { deleted: false }
    await move(caller, repo, { ref, before: current, after: null, peeled: null, type: null })
    return { deleted: true }
  }

  /** Whoever says where the ref must be is told when it is not; all others want it moved from wherever it is. */
  function moveFrom<T>(
    expected: string | null | undefined,
    { repo, ref, signal }: { repo: RepoRow; ref: RefName; signal: AbortSignal },
    attempt: () => Promise<T>,
  ): Promise<T> {
    return expected !== undefined ? attempt() : turns.take(repo, ref, signal, attempt)
  }

  async function remove(
    caller: Caller,
    { name, ref, expectedOid }: { name: string; ref: RefName; expectedOid: string | undefined },
    signal: AbortSignal,
  ): Promise<{ deleted: boolean }> {
    const repo = await repos.open(caller, name, 'repo:write')
    return moveFrom(expectedOid, { repo, ref, signal }, () => removeOnce(caller, repo, ref, expectedOid))
  }

  /** The same, to another place. */
  async function updateOnce(
    caller: Caller,
    repo: RepoRow,
    { ref, signal, ...wanted }: NewPlace & { ref: RefName; signal: AbortSignal },
  ): Promise<Omit<GitRef, 'oid'> & { oid: string | null }> {
    if (wanted.oid === null) {
      await removeOnce(caller, repo, ref, wanted.expectedOid)
      return { ...present(ref, ''), oid: null }
    }
    const before = (await repositories.findOid(repo, ref)) ?? null
    if (!isAsExpected(before, wanted.expectedOid)) throw new Fault('STALE_REF', { name: repo.name, ref })
    const { oid, peeled, type, facts: read } = await targetOf(repo, { ref, before, oid: wanted.oid }, signal)
    if (oid === before) return present(ref, oid)
    const keepsAll = async (before: Oid) =>
      read === 'unclear'
        ? isFastForward(repositories, repo, { before, after: oid }, signal)
        : (read?.fastForward ?? true)
    if (before && !wanted.force && !(await keepsAll(before)))
      throw new Fault('NON_FAST_FORWARD', { name: repo.name, ref })
    const gather = async () => {
      const base = before ? null : ((await repositories.findOid(repo, 'HEAD')) ?? null)
      return repositories.withGit(repo, signal, (opened) =>
        gatherFacts(opened, { before, after: oid }, { base }),
      )
    }
    const facts = read === 'unclear' ? await gather() : read
    await move(caller, repo, { ref, before, after: oid, peeled, type, facts })
    return present(ref, oid)
  }

  return {
    listAll: (caller: Caller, page: RefPage) => list(caller, page, 'refs/'),
    listBranches: (caller: Caller, page: RefPage) => list(caller, page, 'refs/heads/'),
    listTags: (caller: Caller, page: RefPage) => list(caller, page, 'refs/tags/'),

    async createBranch(
      caller: Caller,
      input: { name: string; branch: string; from?: string | undefined },
      signal: AbortSignal,
    ): Promise<GitRef> {
      const ref = requireBranch(input.branch)
      const find = (repo: RepoRow) => revisions.commitAt(repo, input.from, signal)
      const repo = await repos.open(caller, input.name, 'repo:write', find)
      const oid = await find(repo)
      const change = {
        ref,
        before: null,
        after: oid,
        peeled: null,
        type: 'commit' as const,
        facts: nothingNew,
      }
      await move(caller, repo, change).catch((error: unknown) => {
        throw error instanceof Overtaken ? new Fault('REF_ALREADY_EXISTS', { name: repo.name, ref }) : error
      })
      return present(ref, oid)
    },

    async deleteBranch(
      caller: Caller,
      { name, branch, expectedOid }: { name: string; branch: string; expectedOid?: string | undefined },
      signal: AbortSignal,
    ): Promise<{ deleted: boolean }> {
      return remove(caller, { name, ref: requireBranch(branch), expectedOid }, signal)
    },

    async deleteTag(
      caller: Caller,
      { name, tag, expectedOid }: { name: string; tag: string; expectedOid?: string | undefined },
      signal: AbortSignal,
    ): Promise<{ deleted: boolean }> {
      return remove(caller, { name, ref: requireTag(tag), expectedOid }, signal)
    },

    async update(caller: Caller, input: NewPlace & { name: string; ref: string }, signal: AbortSignal) {
      const ref = parseRefName(input.ref)
      if (!ref) throw invalid(['ref'], 'Give a full ref name, such as refs/heads/main')
      const repo = await repos.open(caller, input.name, 'repo:write')
      const attempt = () => updateOnce(caller, repo, { ...input, ref, signal })
      return moveFrom(input.expectedOid, { repo, ref, signal }, attempt)
    },
  }
}

/** Whether a ref is where somebody says it must be, null for nowhere; always, where nobody says anything. */
export const isAsExpected = (current: Oid | null, expected: string | null | undefined): boolean =>
  expected === undefined || (expected?.toLowerCase() ?? null) === current

/** There can be no ref below the name of another, nor above. */
export const obstructed = (where: { name: string; ref: RefName }) =>
  new Fault('REF_ALREADY_EXISTS', where, {
    message: 'Git ref already exists: its name is inside, or contains, the name of another ref',
  })

/** A branch at a commit that is there already brings nothing. */
export const nothingNew = { fastForward: true, commitCount: 0, changedPaths: [], pathsTruncated: false }

export function present(ref: RefName, oid: string): GitRef {
  return { ...shortRef(ref), oid }
}

export function requireBranch(branch: string): RefName {
  const parsed = parseBranchName(branch)
  if (!parsed) throw invalid(['branch'], 'This is not a valid branch name')
  return branchRef(parsed)
}

export function requireTag(tag: string): RefName {
  const parsed = parseTagName(tag)
  if (!parsed) throw invalid(['tag'], 'This is not a valid tag name')
  return tagRef(parsed)
}
