import type { Daemon, ExtensionEntry, Runtime } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { Revisions } from '../code/revisions.ts'
import { Fault } from '../platform/fault.ts'
import type { ReposService } from '../repos/service.ts'
import type { Db } from '../schema.ts'
import type { Builds } from './builds.ts'
import { CANONICAL_REF } from './canonical-ref.ts'
import { presentExtension } from './entries.ts'
import { brokenFault } from './faults.ts'
import { firstProblems, type Problem } from './problems.ts'
import * as store from './store.ts'
import type { Surveys } from './surveys.ts'

const ERRORS_SHOWN = 1000

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
  /** Those this server runs. */
  runtimes: ReadonlySet<Runtime>
}) {
  const { db, repos, revisions, surveys, builds, runtimes } = deps

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
        daemons: [] as Daemon[],
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
      throw new Fault('EXTENSION_NOT_FOUND', {
        name: repo.name,
        extension: wanted,
        ...(ref !== undefined && { ref }),
      })
    },
  }
}
