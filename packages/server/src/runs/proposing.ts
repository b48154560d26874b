import type { Cause } from '@trellis/contract'
import { type Appending, bySystem } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Tx } from '../schema.ts'
import * as proposals from './proposal-store.ts'
import type { SchemaChecks } from './schema-checks.ts'
import type { NewRun, Transitions } from './transitions.ts'

/** A run that was set off. */
interface Proposal {
  run: NewRun
  /** Of the event that set it off. */
  cause: Cause | undefined
}

/** Looked at in one go: then it is somebody else's turn. */
const AT_ONCE = 4
const MOST_REPOSITORIES = 1_000

export type Proposing = ReturnType<typeof createProposing>

/**
 * Runs that something set off and whose extension has a schema for its input. To hold the input against it takes time,
 * which the transaction of the event does not have: it keeps what is to be, and whether it is comes a moment later.
 */
export function createProposing({
  database,
  newId,
  onProposed,
}: {
  database: Database
  newId: NewId
  onProposed(repoId: string): void
}) {
  return {
    async proposeIn(tx: Tx, repo: NewRun['repo'], proposed: readonly Proposal[]): Promise<void> {
      if (proposed.length === 0) return
      const rows = proposed.map(({ run, cause }) => ({
        id: newId('run'),
        repo_id: repo.id,
        org_id: repo.orgId,
        run: JSON.stringify(run),
        cause: cause ? JSON.stringify(cause) : null,
      }))
      await proposals.insertProposals(tx, rows)
      database.afterCommit(tx, () => onProposed(repo.id))
    },
  }
}

interface JudgingDeps {
  database: Database
  events: Appending
  checks: SchemaChecks
  transitions: Pick<Transitions, 'queueIn'>
  /** There is more to be looked at in a repository. */
  hint(repoId: string): void
}

/** Makes runs of what was proposed, or tells why there is none. Any process may: whoever takes a proposal away does it. */
export function createJudging({ database, events, checks, transitions, hint }: JudgingDeps) {
  return {
    async judge(repoId: string, signal: AbortSignal): Promise<void> {
      const rows = await proposals.listProposals(database.db, repoId, AT_ONCE)
      for (const { id, ...row } of rows) {
        if (signal.aborted) return
        const run = JSON.parse(row.run) as NewRun
        const { id: orgId, isProvisional } = { ...run.repo, id: run.repo.orgId }
        const question = { schema: run.target.inputSchema ?? 'true', value: run.input }
        const problem = await checks.check({ id: orgId, isProvisional }, question)
        await database.transact(async (tx) => {
          if (!(await proposals.takeProposal(tx, id))) return
          if (problem === undefined) await transitions.queueIn(tx, events, [run])
          else await rejectIn(tx, run, row.cause, `input_invalid: ${problem}`)
        })
      }
      if (rows.length === AT_ONCE) hint(repoId)
    },

    /** What a process left behind that had no time for it. */
    async lookAround(): Promise<void> {
      for (const repoId of await proposals.listProposers(database.db, MOST_REPOSITORIES)) hint(repoId)
    },
  }

  async function rejectIn(tx: Tx, run: NewRun, cause: string | null, reason: string): Promise<void> {
    await events.append(tx, {
      ...bySystem,
      ...(cause !== null && { cause: JSON.parse(cause) as Cause }),
      scope: repoScope(run.repo.id),
      type: 'run.rejected',
      subject: run.target.name,
      payload: { extension: run.target.name, reason },
    })
  }
}
