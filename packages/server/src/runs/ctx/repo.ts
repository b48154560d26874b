import { contract } from '@trellis/contract'
import { afresh } from '../../code/afresh.ts'
import type { BrowseService } from '../../code/browse.ts'
import type { CommitsService } from '../../code/commits.ts'
import type { RefsService } from '../../code/refs.ts'
import { parseInputOf } from '../../operations/implement.ts'
import { Fault, invalid } from '../../platform/fault.ts'
import { type CtxCall, type CtxMethods, optionsAt, textAt } from './methods.ts'

interface RepoMethodsDeps {
  browse: BrowseService
  refs: RefsService
  commits: CommitsService
  maxCommitBytes: number
}

/** All of them are in memory. */
const MAX_REFS = 10_000
const PAGE = 100

/** `ctx.repo`: the operations on git, for the repository of the run. */
export function repoMethods({ browse, refs, commits, maxCommitBytes }: RepoMethodsDeps): CtxMethods {
  const read = (perform: (call: CtxCall) => Promise<unknown>) => ({ needs: 'repo:read', perform })
  const write = (perform: (call: CtxCall) => Promise<unknown>) => ({
    needs: 'repo:write',
    writes: true,
    perform: (call: CtxCall) => afresh(() => perform(call)),
  })

  async function findBlob({ run, repo, caller, args, signal }: CtxCall) {
    const path = textAt(args, 0)
    const ref = refIn(optionsAt(args, 1), run)
    try {
      const input = parseInputOf(contract.git.blobs.get, { name: repo.name, path, ref })
      return await browse.getBlob(caller, input, { signal })
    } catch (error) {
      const isMissing =
        error instanceof Fault &&
        error.code === 'GIT_OBJECT_NOT_FOUND' &&
        (error as Fault<'GIT_OBJECT_NOT_FOUND'>).data.object === path
      if (isMissing) return null
      throw error
    }
  }

  async function listAll(
    { repo, caller }: CtxCall,
    list: RefsService['listBranches'],
  ): Promise<Awaited<ReturnType<RefsService['listBranches']>>['items']> {
    const found: Awaited<ReturnType<typeof list>>['items'] = []
    for (let cursor: string | undefined; found.length < MAX_REFS; ) {
      const page = await list(caller, { name: repo.name, cursor, limit: PAGE })
      found.push(...page.items)
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    return found
  }

  return {
    'repo.readText': read(async (call) => {
      const blob = await findBlob(call)
      if (!blob) return null
      return blob.encoding === 'utf-8' ? blob.content : Buffer.from(blob.content, 'base64').toString()
    }),
    'repo.readBytes': read(async (call) => {
      const blob = await findBlob(call)
      if (!blob) return null
      return blob.encoding === 'base64' ? blob.content : Buffer.from(blob.content).toString('base64')
    }),
    'repo.list': read(async ({ run, repo, caller, args, signal }) => {
      const options = optionsAt(args, 1)
      const input = parseInputOf(contract.git.trees.get, {
        name: repo.name,
        path: args[0] === '' || args[0] === '/' ? undefined : (args[0] ?? undefined),
        ref: refIn(options, run),
      })
      return browse.listTree(caller, { ...input, recursive: options.recursive === true }, signal)
    }),
    'repo.branches': read((call) => listAll(call, refs.listBranches)),
    'repo.tags': read((call) => listAll(call, refs.listTags)),
    'repo.commits': read(async ({ run, repo, caller, args, signal }) => {
      const { path, limit, ...options } = optionsAt(args, 0)
      const ref = refIn(options, run)
      const input = parseInputOf(contract.git.commits.list, { name: repo.name, ref, path, limit })
      return (await browse.listCommits(caller, input, signal)).items
    }),
    'repo.compare': read(async ({ repo, caller, args, signal }) => {
      const [base, head] = args
      return browse.compare(
        caller,
        parseInputOf(contract.git.compare, { name: repo.name, base, head }),
        signal,
      )
    }),

    'repo.commit': write(async ({ repo, caller, args, signal }) => {
      const { branch, message, changes, expectedHead } = optionsAt(args, 0)
      const given = { name: repo.name, branch, message, changes, expectedHead }
      const input = parseInputOf(contract.git.commits.create, given)
      const bytes = input.changes.reduce(
        (sum, change) => sum + (change.op === 'put' ? change.content.length : 0),
        0,
      )
      if (bytes > maxCommitBytes)
        throw new Fault('PAYLOAD_TOO_LARGE', {
          scope: 'workspace_commit',
          limit: maxCommitBytes,
          observed: bytes,
        })
      return commits.create(caller, input, signal)
    }),
    'repo.createBranch': write(async ({ repo, caller, args, signal }) => {
      const [branch, from] = args
      const input = parseInputOf(contract.git.branches.create, { name: repo.name, branch, from })
      return refs.createBranch(caller, input, signal)
    }),
    'repo.deleteBranch': write(async ({ repo, caller, args, signal }) => {
      const input = parseInputOf(contract.git.branches.delete, { name: repo.name, branch: args[0] })
      return refs.deleteBranch(caller, input, signal)
    }),
    'repo.createTag': write(async ({ repo, caller, args, signal }) => {
      const [tag, oid] = args
      const { message } = optionsAt(args, 2)
      const input = parseInputOf(contract.git.tags.create, { name: repo.name, tag, oid, message })
      return commits.createTag(caller, input, signal)
    }),
    'repo.merge': write(async ({ repo, caller, args, signal }) => {
      const { into, from, message } = optionsAt(args, 0)
      const input = parseInputOf(contract.git.merge, { name: repo.name, branch: into, from, message })
      return commits.merge(caller, input, signal)
    }),
  }
}

/** The commit of the run, unless another is named. */
function refIn({ ref }: Record<string, unknown>, run: CtxCall['run']): string {
  if (ref === undefined || ref === null) return run.commit_sha ?? run.module_commit
  if (typeof ref !== 'string' || ref === '') throw invalid(['ref'], 'A ref is a string')
  return ref
}
