import { createPostgres } from '@trellis/server/testing'
import { globalSetup, globalTeardown } from '../test/postgres-cluster.ts'

let cluster: Promise<void> | undefined

/** A new database of a PostgreSQL that the benchmarks share; gives its address. */
export async function createBenchPostgres(): Promise<string> {
  cluster ??= globalSetup()
  await cluster
  return String((await createPostgres()).url)
}

export async function closeBenchPostgres(): Promise<void> {
  if (!cluster) return
  await cluster
  await globalTeardown()
}
