import { PackMissing, type PackStore } from '../git/packs/pack-store.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../schema.ts'
import * as healthStore from './health-store.ts'
import type { PackHealth } from './pack-health.ts'

interface SurveyDeps {
  database: Database
  packs: PackStore
  health: PackHealth
  log: Log
}

const PAGE = 5_000

export type PackSurvey = ReturnType<typeof createPackSurvey>

/** What is known of all packs together, from the last look at them. */
export function createPackSurvey({ database, packs, health, log }: SurveyDeps) {
  const { db } = database
  let missing = 0
  let damaged = 0
  let bytes = 0
  let example: string | undefined

  /** Also of a pack that has come or gone since the names were read. */
  async function isMissing(packId: string): Promise<boolean> {
    const isThere = await packs.filesOf(packId).then(
      () => true,
      (error: unknown) => {
        if (error instanceof PackMissing) return false
        throw error
      },
    )
    return !isThere && (await healthStore.listListedOf(db, [packId])).has(packId)
  }

  async function recount(): Promise<void> {
    damaged = await healthStore.countDamaged(db)
  }

  async function measure(signal?: AbortSignal): Promise<void> {
    let sum = 0
    for (let after: string | null = ''; after !== null && !signal?.aborted; ) {
      const some: { bytes: number; last: string | null } = await healthStore.sumBytes(db, {
        after,
        limit: PAGE,
      })
      sum += some.bytes
      after = some.last
    }
    if (!signal?.aborted) bytes = sum
  }

  return {
    /** Finds the packs that are listed and not stored, by reading names alone. */
    async look(signal?: AbortSignal): Promise<void> {
      const stored = new Set<string>()
      for await (const ids of packs.listIds()) for (const id of ids) stored.add(id)
      const before = missing
      let found = 0
      let first: string | undefined
      for (let after = ''; ; ) {
        const page = await healthStore.listListedIds(db, { after, limit: PAGE })
        if (signal?.aborted) return
        for (const id of page) {
          if (stored.has(id) || !(await isMissing(id))) continue
          found++
          first ??= id
        }
        const last = page.at(-1)
        if (!last || page.length < PAGE) break
        after = last
      }
      missing = found
      example = first
      await recount()
      await measure(signal)
      if (first && found !== before)
        log.error('packs are listed and not stored', {
          missing,
          pack: first,
          repositories: await health.namesOf(first),
        })
    },

    recount,

    /** What stands in the way of the server's work. Anybody may read it, so it names no repository: the log does. */
    problems: (): string[] =>
      missing > 0 ? [`${missing} packs are listed and not stored, such as ${example}`] : [],

    get missing() {
      return missing
    },
    get damaged() {
      return damaged
    },
    /** Of all packs, as their rows say it. */
    get bytes() {
      return bytes
    },
  }
}
