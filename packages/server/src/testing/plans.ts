import { CompiledQuery, type Kysely, type RootOperationNode } from 'kysely'
import type { Database } from '../db/database.ts'

/** How a database finds what `work` asks for, one text for each query. */
export async function plansOf<Schema>(
  { db, dialect, transact }: Pick<Database<Schema>, 'db' | 'dialect' | 'transact'>,
  work: (db: Kysely<Schema>) => Promise<unknown>,
): Promise<string[]> {
  const asked: RootOperationNode[] = []
  await work(
    db.withPlugin({
      transformQuery: ({ node }) => {
        asked.push(node)
        return node
      },
      transformResult: async ({ result }) => result,
    }),
  )
  return transact(async (tx) => {
    // Tables of tests are small, and PostgreSQL would rather read all of one than look into its index.
    if (dialect === 'postgres') await tx.executeQuery(CompiledQuery.raw('set local enable_seqscan = off'))
    const plans: string[] = []
    for (const node of asked) {
      const { sql, parameters } = tx.getExecutor().compileQuery(node, { queryId: 'plan' })
      const explain = dialect === 'postgres' ? 'explain' : 'explain query plan'
      const { rows } = await tx.executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(`${explain} ${sql}`, parameters.map(plain)),
      )
      plans.push(rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n'))
    }
    return plans
  })
}

/** A query that is being prepared has no values yet. This one is good for texts and for numbers. */
const plain = (value: unknown): unknown => (typeof value === 'object' && value !== null ? '1' : value)
