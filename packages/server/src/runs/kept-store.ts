import { sql } from 'kysely'
import { prepared } from '../db/prepared.ts'
import type { Db } from '../schema.ts'

// SQL of how much is kept of the runs of organizations.

/** An organization, and what is kept of all its runs. */
export interface Keeper {
  orgId: string
  /** Nobody stands for it yet. */
  isProvisional: boolean
  keptBytes: number
}

export async function findKeeper(q: Db, orgId: string): Promise<Keeper> {
  const row = await q
    .selectFrom('run_queues')
    .leftJoin('orgs', 'orgs.id', 'run_queues.org_id')
    .select((eb) => ['orgs.kind', eb.fn.sum<number | string>('run_queues.kept_bytes').as('bytes')])
    .where('run_queues.org_id', '=', orgId)
    .groupBy('orgs.kind')
    .executeTakeFirst()
  return { orgId, isProvisional: (row?.kind ?? 'team') !== 'team', keptBytes: Number(row?.bytes ?? 0) }
}

interface Without {
  orgId: string
  /** How many. */
  ended: number
}

const withoutOldestEnded = prepared((db: Db, { orgId, ended }: Without) => {
  const oldest = db
    .selectFrom('runs')
    .select('bytes')
    .where('org_id', '=', orgId)
    .where('ended_at', 'is not', null)
    .orderBy('ended_at')
    .limit(ended)
  return db
    .selectFrom(oldest.as('oldest'))
    .select(({ fn, lit }) => fn.coalesce(fn.sum<number | string>('oldest.bytes'), lit(0)).as('ended'))
    .select((eb) =>
      eb
        .selectFrom('run_queues')
        .select(({ fn }) => fn.sum<number | string>('kept_bytes').as('bytes'))
        .where('org_id', '=', orgId)
        .as('kept'),
    )
})

/** What would be kept if so many had been removed. In one look: whatever is removed meanwhile is missing in both or in neither. */
export async function sumWithoutOldestEnded(q: Db, without: Without): Promise<number> {
  const [sums] = await withoutOldestEnded(q, without)
  return Number(sums?.kept ?? 0) - Number(sums?.ended ?? 0)
}

/** Organizations of which more is kept than may be. */
export async function listOverfull(
  q: Db,
  most: { provisional: number; others: number },
  limit: number,
): Promise<string[]> {
  const rows = await q
    .selectFrom('run_queues')
    .leftJoin('orgs', 'orgs.id', 'run_queues.org_id')
    .select('run_queues.org_id')
    .groupBy(['run_queues.org_id', 'orgs.kind'])
    .having(
      (eb) => eb.fn.sum<number>('run_queues.kept_bytes'),
      '>',
      (eb) =>
        eb
          .case()
          .when('orgs.kind', '!=', 'team')
          .then(sql<number>`${sql.lit(most.provisional)}`)
          .else(sql<number>`${sql.lit(most.others)}`)
          .end(),
    )
    .limit(limit)
    .execute()
  return rows.map(({ org_id }) => org_id)
}
