import { Counter, Gauge, type Registry } from 'prom-client'
import type { CloneCache, CloneSource } from '../git/clones/cache.ts'
import type { ProcessPool } from '../git/process/pool.ts'

export const createCloneCounter = (registry: Registry): ((source: CloneSource) => void) => {
  const clones = new Counter({
    name: 'trellis_clones_total',
    help: 'Clones, by where the answer came from: kept, shared while it was made, made, or made but too large to keep',
    labelNames: ['source'],
    registers: [registry],
  })
  return (source) => clones.inc({ source })
}

/** How busy git is, and what the clone cache holds, looked at when Prometheus asks. */
export function watchGit(
  registry: Registry,
  { pool, cache }: { pool: ProcessPool; cache: CloneCache },
): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('trellis_git_processes', 'Git processes that run now', () => pool.running)
  gauge('trellis_git_processes_waiting', 'Git commands that wait for a place', () => pool.depth)
  gauge('trellis_clone_cache_bytes', 'Disk space of the answers to clones', () => cache.bytes)
  gauge('trellis_clone_cache_entries', 'Answers to clones that are kept', () => cache.entries)
}
