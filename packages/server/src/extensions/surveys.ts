import type { Repositories } from '../code/repositories.ts'
import type { Oid } from '../git/names.ts'
import { ObjectTooLarge } from '../git/objects/reader.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Builds, Built, Module } from './builds.ts'
import type { CommitReader, FolderProblem, FoundExtension, FoundWebhook, Reading } from './reading.ts'

/** An extension whose module builds. */
export interface SoundExtension extends FoundExtension {
  modulePath: string
  moduleHash: string
  bundleBytes: number
}

/** A webhook whose payload module builds, if it has one. */
export interface SoundWebhook extends FoundWebhook {
  payloadHash: string | null
}

export type SurveyProblem = FolderProblem & { from: 'descriptor' | 'build' }

/** All that a commit declares, and all that is wrong with it. */
export interface Survey {
  extensions: SoundExtension[]
  webhooks: SoundWebhook[]
  problems: SurveyProblem[]
}

/** How modules come to be built: from memory where that is possible, or all of them anew. */
export type BuildAll = Builds['ensure']

export type Surveys = ReturnType<typeof createSurveys>

export function createSurveys({
  repositories,
  commits,
}: {
  repositories: Repositories
  commits: CommitReader
}) {
  async function read(repo: RepoRow, commit: Oid, signal: AbortSignal): Promise<Reading> {
    const known = commits.recall(commit)
    if (known) return known
    return repositories
      .withObjects(repo, signal, (objects) => commits.read(objects, commit))
      .catch((error: unknown) => {
        if (!(error instanceof ObjectTooLarge)) throw error
        const { limit, size: observed } = error
        throw new Fault('PAYLOAD_TOO_LARGE', { scope: 'git_workspace_memory', limit, observed })
      })
  }

  return {
    /** `only` looks at one folder: the rest is read, and not built. */
    async at(
      repo: RepoRow,
      { commit, only, buildAll }: { commit: Oid; only?: string; buildAll: BuildAll },
      signal: AbortSignal,
    ): Promise<Survey> {
      const reading = await read(repo, commit, signal)
      const isWanted = ({ path }: { path: string }) => only === undefined || path === only
      const extensions = reading.extensions.filter(isWanted)
      const webhooks = reading.webhooks.filter(isWanted)
      const modules = new Map<object, Module>()
      for (const extension of extensions) modules.set(extension, moduleOf(extension))
      for (const webhook of webhooks) {
        const module = payloadOf(webhook)
        if (module) modules.set(webhook, module)
      }
      const built = await buildAll(repo, commit, [...modules.values()], signal)

      const survey: Survey = {
        extensions: [],
        webhooks: [],
        problems: reading.problems.map((problem) => ({ ...problem, from: 'descriptor' })),
      }
      const outcomeOf = (
        found: FoundExtension | FoundWebhook,
      ): Exclude<Built, { problems: object }> | undefined => {
        const module = modules.get(found)
        const outcome = module && built.get(module)
        if (outcome && !outcome.problems) return outcome
        for (const problem of outcome?.problems ?? [])
          survey.problems.push({ ...problem, folder: found.path, from: 'build' })
        return undefined
      }
      for (const extension of extensions) {
        const outcome = outcomeOf(extension)
        if (!outcome) continue
        const { moduleHash, bytes } = outcome
        const modulePath = moduleOf(extension).entry
        survey.extensions.push({ ...extension, modulePath, moduleHash, bundleBytes: bytes })
      }
      for (const webhook of webhooks) {
        const outcome = outcomeOf(webhook)
        if (outcome || !modules.has(webhook))
          survey.webhooks.push({ ...webhook, payloadHash: outcome?.moduleHash ?? null })
      }
      return survey
    },
  }
}

const moduleOf = ({ path, folder, descriptor }: FoundExtension): Module => ({
  path,
  folder,
  entry: `${path}/${descriptor.module ?? 'index.ts'}`,
  runtime: descriptor.runtime ?? 'worker',
})

function payloadOf({ path, folder, descriptor }: FoundWebhook): Module | undefined {
  const { payload } = descriptor
  return payload === undefined ? undefined : { path, folder, entry: `${path}/${payload}`, runtime: 'worker' }
}
