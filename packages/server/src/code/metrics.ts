import { Counter } from 'prom-client'
import type { CloneCache, CloneSource } from '../git/clones/cache.ts'
import type { StoredObjects } from '../git/packs/stored-objects.ts'
import type { GitWork } from '../git/process/allowances.ts'
import { observe, type Registry } from '../platform/metrics.ts'
import type { Places } from '../platform/places.ts'
import type { PackSurvey } from './survey.ts'

export const createCloneCounter = (registry: Registry): ((source: CloneSource) => void) => {
  const clones = new Counter({
    name: 'trellis_clones_total',
    help: 'Clones, by where the answer came from: kept, shared while it was made, made, or made but too large to keep',
    labelNames: ['source'],
    registers: [registry],
  })
  return (source) => clones.inc({ source })
}

export const createGitCounter = (registry: Registry): ((work: GitWork) => void) => {
  const started = new Counter({
    name: 'trellis_git_processes_started_total',
    help: 'Git processes that were started, by what they were for; most requests need none',
    labelNames: ['work'],
    registers: [registry],
  })
  return (work) => started.inc({ work })
}

/** How busy git is, and what the clone cache holds. */
export function watchGit(registry: Registry, { pool, cache }: { pool: Places; cache: CloneCache }): void {
  observe(registry, 'trellis_git_processes', 'Git processes that run now', () => pool.running)
  observe(registry, 'trellis_git_processes_waiting', 'Git commands that wait for a place', () => pool.depth)
  observe(registry, 'trellis_clone_cache_bytes', 'Disk space of the answers to clones', () => cache.bytes)
  observe(registry, 'trellis_clone_cache_entries', 'Answers to clones that are kept', () => cache.entries)
}

/** Where objects come from, and what is kept of them. */
export function watchObjects(registry: Registry, objects: StoredObjects): void {
  new Counter({
    name: 'trellis_object_reads_total',
    help: 'Git objects looked at, by where they were: in memory, in packs, or left to a process of git',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      const { memory, packs, git } = objects.counts
      this.reset()
      for (const [source, count] of Object.entries({ memory, packs, git })) this.inc({ source }, count)
    },
  })
  new Counter({
    name: 'trellis_object_pack_bytes_total',
    help: 'Bytes of the git objects that were read from packs without git',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(objects.counts.packBytes)
    },
  })
  observe(
    registry,
    'trellis_object_memory_bytes',
    'Memory for git objects that were read, and for indexes of packs',
    () => objects.bytes,
  )
}

/** What packs take, and those that are not what they should be. */
export function watchPacks(registry: Registry, survey: PackSurvey): void {
  observe(
    registry,
    'trellis_packs_bytes',
    'Disk space of all packs, as of the last survey, which is every five minutes',
    () => survey.bytes,
  )
  observe(
    registry,
    'trellis_packs_damaged',
    'Packs whose content has changed since they were written, and that are listed',
    () => survey.damaged,
  )
  observe(
    registry,
    'trellis_packs_missing',
    'Packs that are listed and not in the data directory of this process',
    () => survey.missing,
  )
}
