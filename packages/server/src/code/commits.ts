import type { GitRef, Person } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { type Oid, parseOid, type RefName, type TagName } from '../git/names.ts'
import {
  type Change,
  checkSubmodules,
  type FileMode,
  InvalidParent,
  makeCommit,
  makeTag,
} from '../git/objects/commit-writer.ts'
import type { ObjectType } from '../git/objects/format.ts'
import { mergeCommits } from '../git/objects/merge.ts'
import type { PackBytes } from '../git/objects/pack-writer.ts'
import { describeTips, gatherFacts, readFacts, type UpdateFacts } from '../git/objects/push-facts.ts'
import { ObjectTooLarge } from '../git/objects/reader.ts'
import { type EditOptions, EditTooLarge, InvalidTree } from '../git/objects/tree-editor.ts'
import type { PackInfo, PackStore } from '../git/packs/pack-store.ts'
import { Fault, invalid } from '../platform/fault.ts'
import { largerWork } from '../platform/larger-work.ts'
import { isOutage } from '../platform/outages.ts'
import { createPauses } from '../platform/pauses.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import { decodeBase64 } from './base64.ts'
import { type BranchTurns, Overtaken } from './branch-turns.ts'
import { type Landings, ObjectsPruned } from './landing.ts'
import type { Makers } from './makers.ts'
import { type Means, refRulesFor } from './ref-rules.ts'
import { isAsExpected, nothingNew, obstructed, present, requireBranch, requireTag } from './refs.ts'
import type { Repositories } from './repositories.ts'
import type { Revisions } from './revisions.ts'
import type { Signers } from './signers.ts'
import { encodeUtf8 } from './utf8.ts'

interface CommitsDeps {
  repos: ReposService
  repositories: Repositories
  revisions: Revisions
  makers: Makers
  landings: Landings
  turns: BranchTurns
  packs: PackStore
  signers: Signers
  onLanded(repo: RepoRow): void
}

type InputChange =
  | { op: 'put'; path: string; content: string; encoding: 'utf-8' | 'base64'; mode?: FileMode | undefined }
  | { op: 'delete'; path: string }
  | { op: 'move'; from: string; to: string }

interface NewCommitInput {
  name: string
  branch: string
  message: string
  changes: InputChange[]
  expectedHead?: string | null | undefined
  parent?: string | undefined
  author?: Person | undefined
  committer?: Person | undefined
}

interface MergeInput {
  name: string
  branch: string
  from: string
  strategy: 'merge' | 'fast-forward' | 'squash'
  message?: string | undefined
  expectedHead?: string | undefined
  author?: Person | undefined
}

type Wanted = Parameters<typeof makeCommit>[0]

interface ReadyCommit {
  input: NewCommitInput
  ref: RefName
  wanted: Omit<Wanted, 'parent'>
  signal: AbortSignal
}

interface ReadyMerge extends Pick<Wanted, 'author' | 'committer'> {
  input: MergeInput
  ref: RefName
  signal: AbortSignal
}

interface NewTagInput {
  name: string
  tag: string
  oid: string
  message?: string | undefined
  tagger?: Person | undefined
}

export type CommitsService = ReturnType<typeof createCommitsService>

/** Commits, tags and merges made by the server itself, without a clone or a checkout. */
export function createCommitsService(deps: CommitsDeps) {
  const { repos, repositories, revisions, makers, landings, turns, packs, signers, onLanded } = deps

  /** Makes new objects durable. What goes wrong with the disk here has changed nothing anybody sees. */
  async function keep(repo: RepoRow, ref: RefName, pack: PackBytes): Promise<PackInfo> {
    const kept = await packs.add(pack).catch((cause: unknown) => {
      throw isOutage(cause)
        ? cause
        : new Fault('GIT_REMOTE_WRITE_FAILED', { name: repo.name, ref }, { cause })
    })
    await largerWork.take(repo.org_id)
    return kept
  }

  /** Makes the commit that was asked for, of what is there; git is asked only about submodules. */
  async function make(repo: RepoRow, wanted: Wanted, options: EditOptions & { signal: AbortSignal }) {
    const { signal } = options
    const inWords = (error: unknown) => {
      throw inContractWords(repo, error)
    }
    if (!wanted.parent) await repositories.requireSound(repo)
    const made = wanted.parent
      ? await repositories.withObjects(repo, signal, (objects) =>
          makeCommit(wanted, objects, options).catch(inWords),
        )
      : await makeCommit(wanted, undefined, options).catch(inWords)
    if (made.unchanged || !made.submodulesFile) return made
    const check = { pack: made.pack, path: made.submodulesFile }
    await repositories.withQuarantine(repo, signal, ({ objectsDir }, opened) =>
      checkSubmodules(opened, objectsDir, check).catch(inWords),
    )
    return made
  }

  async function land(
    caller: Caller,
    repo: RepoRow,
    change: { ref: RefName; before: Oid | null; after: Oid; peeled?: Oid | null; facts?: UpdateFacts },
    {
      pack,
      type = 'commit',
      means = 'operation',
    }: { pack?: PackInfo | undefined; type?: ObjectType; means?: Means } = {},
  ): Promise<void> {
    const { ref } = change
    const landing = landings.land({
      repo,
      mover: { caller, means },
      changes: [{ peeled: null, type, ...change }],
      pack,
      atomic: true,
    })
    const refused = await landing.then(
      (results) => results.get(ref),
      (error: unknown) => {
        // Nothing of it was kept; whatever else goes wrong may have happened after the commit.
        if (error instanceof Fault || error instanceof ObjectsPruned) return error
        throw error
      },
    )
    const where = { name: repo.name, ref }
    if (refused && pack) await packs.remove(pack.packId)
    if (refused instanceof Error) throw refused
    if (refused && ref.startsWith('refs/tags/')) throw new Fault('REF_ALREADY_EXISTS', where)
    if (refused === 'obstructed') throw obstructed(where)
    if (refused) throw new Overtaken(where)
    onLanded(repo)
  }

  /** On top of whatever is there now. Throws Overtaken when that moves meanwhile. */
  async function commitOnce(caller: Caller, repo: RepoRow, { input, ref, wanted, signal }: ReadyCommit) {
    const before = (await repositories.findOid(repo, ref)) ?? null
    if (!isAsExpected(before, input.expectedHead)) throw new Fault('STALE_REF', { name: repo.name, ref })
    const parent = await parentFor(repo, ref, before, input.parent, signal)
    const commit = { ...(parent && { parent }), ...wanted }
    const made = await makers.make(repo, signal, (onHeavy) => make(repo, commit, { signal, onHeavy }))
    const [{ branch }, { tree }] = [input, made]
    if (made.unchanged) {
      if (!before)
        throw new Fault('INVALID_TREE', { name: repo.name, object: tree }, { message: emptyCommit })
      return { branch, before, oid: before, tree, unchanged: true }
    }
    const facts = { fastForward: true, commitCount: 1, ...made.paths }
    const pack = await keep(repo, ref, made.pack)
    await land(caller, repo, { ref, before, after: made.commit, facts }, { pack })
    return { branch, before, oid: made.commit, tree, unchanged: false }
  }

  /** The same for a merge. */
  async function mergeOnce(
    caller: Caller,
    repo: RepoRow,
    { input, ref, author, committer, signal }: ReadyMerge,
  ) {
    const ours = await repositories.findOid(repo, ref)
    if (!isAsExpected(ours ?? null, input.expectedHead))
      throw new Fault('STALE_REF', { name: repo.name, ref })
    if (!ours) throw noBranch(repo, input)
    const { theirs, straight } = await repositories.withObjects(repo, signal, async (objects) => {
      const theirs = await revisions.commitIn(objects, repo, input.from)
      const isAsked = input.strategy === 'fast-forward'
      // Whatever is odd about it, git will tell.
      const read = () => readFacts(objects, { before: ours, after: theirs }).catch(() => undefined)
      return { theirs, straight: isAsked ? await read() : undefined }
    })
    const answer = { branch: input.branch, oid: ours as string, conflicts: [], conflictsTruncated: false }
    if (theirs === ours) return { ...answer, outcome: 'up-to-date' as const }
    requireMayMerge(caller, repo, { ref, before: ours, after: theirs })
    if (straight?.fastForward) {
      const change = { ref, before: ours, after: theirs, facts: straight }
      await land(caller, repo, change, { means: 'merge' })
      return { ...answer, outcome: 'fast-forward' as const, oid: theirs }
    }
    const message = input.message ?? `Merge ${input.from} into ${input.branch}\n`
    return repositories.withQuarantine(repo, signal, async (quarantined, opened) => {
      const result = await mergeCommits(opened, quarantined.objectsDir, {
        ours,
        theirs,
        strategy: input.strategy,
        author,
        committer,
        message,
      })
      const { outcome } = result
      if (result.outcome === 'conflict')
        return {
          ...answer,
          outcome,
          conflicts: result.conflicts.map(({ path, kinds }) => ({ path, kinds })),
          conflictsTruncated: result.truncated,
        }
      if (result.outcome !== 'fast-forward' && result.outcome !== 'merged') return { ...answer, outcome }
      const after = result.commit
      const facts = await gatherFacts(quarantined, { before: ours, after })
      const pack = result.outcome === 'merged' ? await keep(repo, ref, result.pack) : undefined
      await land(caller, repo, { ref, before: ours, after, facts }, { pack, means: 'merge' })
      return { ...answer, outcome, oid: after }
    })
  }

  return {
    async create(caller: Caller, input: NewCommitInput, signal: AbortSignal) {
      const ref = requireBranch(input.branch)
      const changes = await decodeAll(input.changes)
      const author = await signers.personOf(caller, input.author, 'author')
      const committer = input.committer
        ? await signers.personOf(caller, input.committer, 'committer')
        : author
      const repo = await repos.open(caller, input.name, 'repo:write')
      const wanted = { changes, author, committer, message: input.message }
      const attempt = () => commitOnce(caller, repo, { input, ref, wanted, signal })
      const saysWhere = input.expectedHead !== undefined || input.parent !== undefined
      return saysWhere ? attempt() : turns.take(repo, ref, signal, attempt)
    },

    async merge(caller: Caller, input: MergeInput, signal: AbortSignal) {
      const ref = requireBranch(input.branch)
      const author = await signers.personOf(caller, input.author, 'author')
      const committer = await signers.callerOf(caller)
      const repo = await repos.open(caller, input.name, 'repo:write', async (repo) => {
        if (!(await repositories.findOid(repo, ref))) throw noBranch(repo, input)
        await revisions.commitAt(repo, input.from, signal)
      })
      const attempt = () => mergeOnce(caller, repo, { input, ref, author, committer, signal })
      // Git may take long, and fail: a turn is for those whom somebody has overtaken.
      return attempt().catch((error: unknown) => {
        if (!(error instanceof Overtaken) || input.expectedHead !== undefined) throw error
        return turns.take(repo, ref, signal, attempt)
      })
    },

    async createTag(caller: Caller, input: NewTagInput, signal: AbortSignal): Promise<GitRef> {
      const ref = requireTag(input.tag)
      if (input.tagger && input.message === undefined)
        throw invalid(['message'], 'A tag with a tagger is an annotated one, and needs a message')
      const tagger = await signers.personOf(caller, input.tagger, 'tagger')
      const find = (repo: RepoRow) => tipAt(repo, input.oid, signal)
      const repo = await repos.open(caller, input.name, 'repo:write', find)
      const tip = await find(repo)
      if (await repositories.findOid(repo, ref))
        throw new Fault('REF_ALREADY_EXISTS', { name: repo.name, ref })
      if (input.message === undefined) {
        const change = { ref, before: null, after: tip.oid, peeled: tip.peeled }
        await land(caller, repo, change, { type: tip.type })
        return present(ref, tip.oid)
      }
      const { message } = input
      const tag = { name: input.tag as TagName, target: tip.oid, targetType: tip.type, tagger, message }
      const made = await makers.make(repo, signal, () => makeTag(tag))
      const pack = await keep(repo, ref, made.pack)
      const change = { ref, before: null, after: made.oid, peeled: tip.peeled ?? tip.oid }
      await land(caller, repo, change, { pack, type: 'tag' })
      return present(ref, made.oid)
    },
  }

  async function tipAt(repo: RepoRow, object: string, signal: AbortSignal) {
    const oid = parseOid(object.toLowerCase())
    const found =
      oid && (await repositories.withObjects(repo, signal, (objects) => describeTips(objects, [oid])))
    const tip = oid && found?.get(oid)
    if (!tip) throw new Fault('GIT_OBJECT_NOT_FOUND', { name: repo.name, object })
    return { oid, ...tip }
  }

  /** A new branch grows from the commit at the revision named, else from the default branch, else from nothing. */
  async function parentFor(
    repo: RepoRow,
    ref: RefName,
    before: Oid | null,
    named: string | undefined,
    signal: AbortSignal,
  ): Promise<Oid | undefined> {
    if (named === undefined) return before ?? (await repositories.findOid(repo, 'HEAD'))
    const parent = await revisions.commitAt(repo, named, signal).catch((error: unknown) => {
      const isNone = error instanceof Fault && error.code === 'GIT_OBJECT_NOT_FOUND'
      throw isNone ? new Fault('INVALID_PARENT', { name: repo.name, object: named }) : error
    })
    if (before && parent !== before) throw new Fault('NON_FAST_FORWARD', { name: repo.name, ref })
    return parent
  }
}

/** Asked once more when it lands. Here, so that git does not work for those who may not. */
function requireMayMerge(
  caller: Caller,
  repo: RepoRow,
  move: { ref: RefName; before: Oid; after: Oid },
): void {
  const reason = refRulesFor(
    { caller, means: 'merge' },
    repo,
  )({
    ...move,
    peeled: null,
    type: 'commit',
    facts: nothingNew,
  })
  if (reason) throw reason
}

const noBranch = ({ name }: RepoRow, { branch }: MergeInput) =>
  new Fault('GIT_OBJECT_NOT_FOUND', { name, object: branch })

const emptyCommit = 'The changes leave nothing to commit'

/** There may be thousands, of tens of megabytes. */
async function decodeAll(changes: readonly InputChange[]): Promise<Change[]> {
  const pause = createPauses()
  const decoded: Change[] = []
  for (const [index, change] of changes.entries()) {
    decoded.push(await decode(change, index))
    await pause()
  }
  return decoded
}

async function decode(change: InputChange, index: number): Promise<Change> {
  if (change.op !== 'put') return change
  const { op, path, content, encoding, mode } = change
  const bytes = encoding === 'base64' ? await decodeBase64(content) : await encodeUtf8(content)
  if (!bytes) throw invalid(['changes', index, 'content'], 'This is not valid base64')
  return { op, path, bytes, ...(mode && { mode }) }
}

function inContractWords(repo: RepoRow, error: unknown): unknown {
  if (error instanceof InvalidTree)
    return new Fault(
      'INVALID_TREE',
      { name: repo.name, object: error.path },
      { message: `Invalid git tree: ${error.path}: ${error.reason}` },
    )
  if (error instanceof ObjectTooLarge)
    return new Fault(
      'PAYLOAD_TOO_LARGE',
      { scope: 'git_workspace_memory', limit: error.limit, observed: error.size },
      { message: 'A directory on the way has too many entries' },
    )
  if (error instanceof EditTooLarge)
    return new Fault(
      'PAYLOAD_TOO_LARGE',
      { scope: 'git_workspace_memory', limit: error.limit, observed: error.observed },
      { message: 'The changes lead into too many directories: commit them in parts' },
    )
  if (error instanceof InvalidParent)
    return new Fault('INVALID_PARENT', { name: repo.name, object: error.oid })
  return error
}
