import type { Daemon, ExtensionEntry, Runtime } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { Revisions } from '../code/revisions.ts'
import type { Oid } from '../git/names.ts'
import { Fault } from '../platform/fault.ts'
import { createRecent } from '../platform/recent.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Db } from '../schema.ts'
import type { Builds } from './builds.ts'
import type { BundleFiles } from './bundle-files.ts'
import { CANONICAL_REF } from './canonical-ref.ts'
import { presentExtension } from './entries.ts'
import { brokenFault } from './faults.ts'
import { firstProblems, type Problem } from './problems.ts'
import { canonicalRunnable, type Runnable, runnableAt } from './runnable.ts'
import * as store from './store.ts'
import type { BuildAll, Surveys } from './surveys.ts'

const ERRORS_SHOWN = 1000
/** Modules that were run lately stay in memory: they never change. */
const OPEN = { maxEntries: 1_000, characters: 16 * 1024 * 1024 }

/** A module that is gone and does not come out the same any more, as when its commit is gone. */
export class BundleLost extends Error {
  override readonly name = 'BundleLost'
  constructor(hash: string) {
    super(`The module ${hash} cannot be built from its commit any more`)
  }
}

interface BuiltModule {
  hash: string
  code: string
  sourceMap: string | undefined
}

interface AtRef {
  name: string
  ref?: string | undefined
}

export type ExtensionsService = ReturnType<typeof createExtensionsService>

/** What extensions there are at a ref, and how they stand to what is canonical. */
export function createExtensionsService(deps: {
  db: Db
  repos: ReposService
  revisions: Revisions
  surveys: Surveys
  builds: Builds
  bundles: BundleFiles
  rebuild: BuildAll
  /** The daemons of the canonical commit. */
  daemonsOf(repoId: string): Promise<Daemon[]>
  /** Those this server runs. */
  runtimes: ReadonlySet<Runtime>
}) {
  const { db, repos, revisions, surveys, builds, bundles, rebuild, runtimes } = deps

  const opened = createRecent<string, BuiltModule>({
    maxEntries: OPEN.maxEntries,
    weight: { of: ({ code, sourceMap = '' }) => code.length + sourceMap.length, max: OPEN.characters },
  })

  const notFound = (repo: RepoRow, { extension, ref }: { extension: string; ref?: string | undefined }) =>
    new Fault('EXTENSION_NOT_FOUND', { name: repo.name, extension, ...(ref !== undefined && { ref }) })

  async function openBundle(hash: string, build: () => Promise<unknown>): Promise<BuiltModule> {
    const known = opened.get(hash)
    if (known) return known
    let code = await bundles.find(hash)
    if (!code) {
      await build()
      code = await bundles.find(hash)
    }
    if (!code) throw new BundleLost(hash)
    const module = { hash, code: code.toString(), sourceMap: await bundles.findSourceMap(hash) }
    opened.set(hash, module)
    return module
  }

  return {
    async list(caller: Caller, { name, ref }: AtRef, signal: AbortSignal) {
      const repo = await repos.open(caller, name, 'repo:read')
      const canonical = await store.readCanonical(db, repo.id)
      const answer = {
        ref: ref ?? repo.default_branch,
        commitSha: null as string | null,
        canonicalRef: CANONICAL_REF,
        canonicalCommitSha: canonical.commit ?? null,
        items: [] as ExtensionEntry[],
        daemons: await deps.daemonsOf(repo.id),
        errors: [] as Problem[],
      }
      // Nothing is wrong with an empty repository.
      if (ref === undefined && !(await revisions.findOid(repo, undefined))) return answer
      const commit = await revisions.commitAt(repo, ref, signal)
      const { extensions, problems } = await surveys.at(repo, { commit, buildAll: builds.ensure }, signal)
      const errors = problems.map(({ path, message }) => ({ path, message }))
      return {
        ...answer,
        commitSha: commit,
        items: extensions.map((extension) => presentExtension(extension, { commit, canonical, runtimes })),
        errors: firstProblems(errors, ERRORS_SHOWN, 'extensions'),
      }
    },

    async get(caller: Caller, input: AtRef & { extension: string }, signal: AbortSignal) {
      const { name, ref, extension: wanted } = input
      const repo = await repos.open(caller, name, 'repo:read')
      const commit = await revisions.commitAt(repo, ref, signal)
      const canonical = await store.readCanonical(db, repo.id)
      const only = `extensions/${wanted}`
      const survey = await surveys.at(repo, { commit, only, buildAll: builds.ensure }, signal)
      const [found] = survey.extensions
      if (found)
        return {
          ...presentExtension(found, { commit, canonical, runtimes }),
          source: { descriptor: found.json, bundleBytes: found.bundleBytes },
        }
      const problems = survey.problems.filter(({ folder }) => folder === only)
      if (problems.length > 0) throw brokenFault(repo, problems)
      throw notFound(repo, input)
    },

    /** What is in force in a repository that was opened. */
    countCanonical: (repo: RepoRow) => store.countCanonical(db, repo.id),

    /** What a run of an extension would run: the canonical one, or with `ref` what is there. */
    async findRunnable(
      repo: RepoRow,
      { extension: wanted, ref }: { extension: string; ref?: string | undefined },
      signal: AbortSignal,
    ): Promise<Runnable> {
      const canonical = await store.readCanonical(db, repo.id, [wanted])
      const [inForce] = canonical.extensions
      if (ref === undefined && canonical.commit) {
        if (!inForce) throw notFound(repo, { extension: wanted })
        return canonicalRunnable(inForce, canonical.commit)
      }
      const commit = await revisions.commitAt(repo, ref, signal)
      const only = `extensions/${wanted}`
      const survey = await surveys.at(repo, { commit, only, buildAll: builds.ensure }, signal)
      const [found] = survey.extensions
      if (found) return runnableAt(found, { commit, canonical: canonical.commit, inForce })
      const problems = survey.problems.filter(({ folder }) => folder === only)
      if (problems.length > 0) throw brokenFault(repo, problems)
      throw notFound(repo, { extension: wanted, ref })
    },

    /** A built module, from its commit again if need be. Throws BundleLost. */
    openModule: (
      repo: RepoRow,
      { extension, commit, hash }: { extension: string; commit: string; hash: string },
      signal: AbortSignal,
    ): Promise<BuiltModule> =>
      openBundle(hash, () =>
        surveys.at(
          repo,
          { commit: commit as Oid, only: `extensions/${extension}`, buildAll: rebuild },
          signal,
        ),
      ),

    /** The same of a webhook in force, whose repository may be gone. */
    openPayload: (
      repo: RepoRow | undefined,
      { webhook, hash }: { webhook: string; hash: string },
      signal: AbortSignal,
    ): Promise<BuiltModule> =>
      openBundle(hash, async () => {
        const commit = repo && (await store.findCanonicalCommit(db, repo.id))
        if (commit)
          await surveys.at(
            repo,
            { commit: commit as Oid, only: `webhooks/${webhook}`, buildAll: rebuild },
            signal,
          )
      }),
  }
}
