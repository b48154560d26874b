import type { Selectable } from 'kysely'
import { prepared } from '../db/prepared.ts'
import type { Db, Tx } from '../schema.ts'

interface ProposalsTable {
  /** In the order they came. */
  id: string
  repo_id: string
  org_id: string
  /** JSON: the run that is to be, and what caused the event that set it off. */
  run: string
  cause: string | null
}

export interface RunProposalTables {
  run_proposals: ProposalsTable
}

type ProposalRow = Selectable<ProposalsTable>

export async function insertProposals(tx: Tx, rows: readonly ProposalRow[]): Promise<void> {
  for (let i = 0; i < rows.length; i += 50)
    await tx
      .insertInto('run_proposals')
      .values(rows.slice(i, i + 50))
      .execute()
}

/** The oldest of a repository. */
export const listProposals = (q: Db, repoId: string, limit: number): Promise<ProposalRow[]> =>
  q.selectFrom('run_proposals').selectAll().where('repo_id', '=', repoId).orderBy('id').limit(limit).execute()

/** Whose there are. */
export async function listProposers(q: Db, limit: number): Promise<string[]> {
  const rows = await q.selectFrom('run_proposals').select('repo_id').orderBy('id').limit(limit).execute()
  return [...new Set(rows.map(({ repo_id }) => repo_id))]
}

const count = prepared((db: Db, { orgId }: { orgId: string }) =>
  db
    .selectFrom('run_proposals')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId),
)

export async function countProposals(q: Db, orgId: string): Promise<number> {
  const [counted] = await count(q, { orgId })
  return Number(counted?.count ?? 0)
}

/** False when somebody else has taken it. */
export async function takeProposal(tx: Tx, id: string): Promise<boolean> {
  const taken = await tx.deleteFrom('run_proposals').where('id', '=', id).returning('id').executeTakeFirst()
  return taken !== undefined
}

export async function deleteProposals(tx: Tx, repoId: string): Promise<void> {
  await tx.deleteFrom('run_proposals').where('repo_id', '=', repoId).execute()
}
