import { Fault } from '../../platform/fault.ts'
import type { Database, Tx } from '../../schema.ts'
import * as cancels from '../cancel-store.ts'

export type GoingOn = ReturnType<typeof createGoingOn>

/**
 * Whether a run may still do something. Whoever runs it is told of its end a moment later, and it has a second then: what
 * it does meanwhile must come to nothing, because whoever asked for its end was told that it is over.
 */
export function createGoingOn({ database }: { database: Database }) {
  return {
    /** Kept so until the transaction ends: whoever wants the run to end waits for that. */
    async requireIn(tx: Tx, runId: string): Promise<void> {
      if (!(await cancels.keepGoingOn(tx, database.dialect, runId))) throw toEnd()
    },

    /** For what has its effect elsewhere. */
    async require(runId: string): Promise<void> {
      if (!(await cancels.isGoingOn(database.db, runId))) throw toEnd()
    },
  }
}

const toEnd = () =>
  new Fault('FORBIDDEN', {}, { message: 'The run was cancelled, and may do nothing any more' })
