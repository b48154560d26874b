import { Fault } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Builds, Built, Module } from './builds.ts'
import { BundleDamaged, type BundleFiles } from './bundle-files.ts'
import type { BuildAll } from './surveys.ts'

export type Rebuild = BuildAll

/**
 * Builds all modules anew, whatever is remembered, and compares: what goes into force must be what the commit gives,
 * and what everybody was shown before.
 */
export function createRebuild({ builds, bundles }: { builds: Builds; bundles: BundleFiles }): Rebuild {
  async function requireSame(repo: RepoRow, { entry }: Module, known: Built | undefined, built: Built) {
    const differs = (reason: string) => new Fault('EXTENSION_PROVENANCE', { name: repo.name, reason })
    if (built.problems) return
    if (known && !known.problems && known.moduleHash !== built.moduleHash)
      throw differs(`${entry} gives ${built.moduleHash}, and ${known.moduleHash} is recorded for it`)
    await bundles.find(built.moduleHash).catch((error: unknown) => {
      if (!(error instanceof BundleDamaged)) throw error
      throw differs(`${entry}: ${error.message}`)
    })
  }

  return async (repo, commit, modules, signal) => {
    const known = await builds.recall(repo, commit, modules, signal)
    const all = new Map<Module, Built>()
    let isBroken = false
    await builds.buildEach(
      { repo, commit, modules, signal },
      {
        // Nothing is promoted then: the rest need not be built.
        isOver: () => isBroken,
        // What is recorded stays as it is until it has been compared.
        shallRemember: (module) => !known.has(module),
        onBuilt: async (module, built) => {
          await requireSame(repo, module, known.get(module), built)
          all.set(module, built)
          isBroken ||= built.problems !== undefined
        },
      },
    )
    return all
  }
}
