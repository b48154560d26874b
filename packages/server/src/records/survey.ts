import { createHash } from 'node:crypto'
import type { MigrationPlanEntry } from '@trellis/contract'
import { createBatches } from '../platform/batches.ts'
import type { Db } from '../schema.ts'
import { type Collection, keyIn, readCollection, UnreadableSchema } from './collection.ts'
import { type Comparison, compareSchemas, creationSteps, planFrom } from './migration-plan.ts'
import { rowsAtOnce } from './room.ts'
import { valueIn } from './rows.ts'
import { parseSchema, type Schema } from './schema.ts'
import { schemaHash } from './schema-hash.ts'
import * as store from './store.ts'
import { changed, upgraded } from './upgrades.ts'

/** What a descriptor has under `record`; it has been found valid. */
export type Declared = object

/** A record that is to be put in force, held against what is. */
export interface Planned {
  declared: Declared
  schema: Schema
  hash: string
  /** What there is of it, in force or not. */
  current?: Collection
  comparison?: Comparison
  entry: MigrationPlanEntry
}

export async function planMigrations(
  db: Db,
  repoId: string,
  all: readonly Declared[],
  signal?: AbortSignal,
): Promise<Planned[]> {
  const rows = new Map((await store.listCollections(db, repoId)).map((row) => [row.name, row]))
  const planned: Planned[] = []
  for (const declared of all) {
    const { schema, issues } = parseSchema(declared)
    if (!schema) throw new Error(`a record that is not valid: ${JSON.stringify(issues)}`)
    planned.push(await planOne(db, { declared, schema, row: rows.get(schema.name), signal }))
  }
  return planned
}

async function planOne(
  db: Db,
  {
    declared,
    schema,
    row,
    signal,
  }: {
    declared: Declared
    schema: Schema
    row: store.CollectionRow | undefined
    signal: AbortSignal | undefined
  },
): Promise<Planned> {
  const hash = schemaHash(declared)
  const { name: recordName } = schema
  const known = { declared, schema, hash }
  if (!row) {
    const entry = { recordName, kind: 'create' as const, schemaHash: hash, steps: creationSteps(schema) }
    return { ...known, entry }
  }
  const current = readOrReason(row)
  if (typeof current === 'string') {
    const reasons = [`the schema in force cannot be read: ${current}`]
    return { ...known, entry: { recordName, kind: 'blocked', schemaHash: hash, steps: [], reasons } }
  }
  const comparison = compareSchemas(current.schema, schema)
  const failing = await countFailing(db, current, comparison, signal)
  const { kind, steps, ...more } = planFrom(comparison, { rows: row.row_count, failing })
  const isBack = row.in_force === 0
  const entry: MigrationPlanEntry = {
    recordName,
    kind: isBack && kind === 'noop' ? 'migrate' : kind,
    schemaHash: hash,
    steps: isBack ? [`bring back record ${recordName} with ${counted(row.row_count)}`, ...steps] : steps,
    ...more,
  }
  return { ...known, current, comparison, entry }
}

function readOrReason(row: store.CollectionRow): Collection | string {
  try {
    return readCollection(row)
  } catch (error) {
    if (error instanceof UnreadableSchema) return error.message
    throw error
  }
}

const counted = (rows: number): string => (rows === 1 ? '1 row' : `${rows} rows`)

/** Goes through all rows, in pieces, if there is anything to find out. */
async function countFailing(
  db: Db,
  { row: collection, upgrades }: Collection,
  { checks, changes }: Comparison,
  signal?: AbortSignal,
): Promise<number[]> {
  const failing = checks.map(() => 0)
  if (checks.length === 0) return failing
  const seen = checks.map(() => new Map<string, boolean>())
  const { id: collectionId } = collection
  const batches = createBatches()
  let after = 0
  /** Gives whether there may be more rows. */
  async function look(most: number): Promise<boolean> {
    const limit = rowsAtOnce(collection, most)
    const rows = await store.listRecords(db, { collectionId, after, limit })
    for (const row of rows) {
      const data = upgraded(JSON.parse(row.data), row.version, upgrades)
      for (const [i, { field, fails }] of checks.entries()) {
        if (fails) failing[i] = (failing[i] ?? 0) + Number(fails(data))
        else failing[i] = (failing[i] ?? 0) + repeats(seen[i], field, changed(data, changes))
      }
    }
    after = rows.at(-1)?.seq ?? after
    return rows.length === limit
  }
  while (await batches.take(look)) {
    signal?.throwIfAborted()
    await batches.rest()
  }
  return failing
}

/** How many more rows share a value, now that this one is known, too. */
function repeats(
  seen: Map<string, boolean> | undefined,
  field: string,
  data: Record<string, unknown>,
): number {
  if (!seen || valueIn(data, field) === undefined) return 0
  const key = createHash('sha1')
    .update(keyIn({ fields: [field] }, data))
    .digest('base64')
  const isShared = seen.get(key)
  seen.set(key, isShared !== undefined)
  if (isShared === undefined) return 0
  return isShared ? 1 : 2
}
