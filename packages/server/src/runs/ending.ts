import type { CredentialEnding, Ending, Holder } from '../access/endings.ts'
import type { EventsService } from '../events/service.ts'
import type { Clock } from '../platform/clock.ts'
import { createPausesInTransaction } from '../platform/pauses.ts'
import type { Database, Tx } from '../schema.ts'
import * as cancels from './cancel-store.ts'
import type { Cancels } from './cancels.ts'
import type { Transitions } from './transitions.ts'

const AT_ONCE = 100

/**
 * What somebody asked for ends with their access: it would go on in their name. All of it is marked in the transaction that
 * ends that, and from then on nothing of it begins; then it ends, run by run.
 */
export const createRunEnding = (deps: EndingDeps): Ending => ({
  endIn: (tx, _author, who) => markIn(deps, tx, who),
})

/**
 * What was started with a credential ends when somebody revokes that: whoever stole it would go on without it. One that
 * expires was good for what it started.
 */
export const createStartedEnding = (deps: EndingDeps): CredentialEnding => ({
  async endIn(tx, holder, credentialIds) {
    for (let i = 0; i < credentialIds.length; i += AT_ONCE)
      await markIn(deps, tx, holder, credentialIds.slice(i, i + AT_ONCE))
  },
})

interface EndingDeps {
  database: Database
  clock: Clock
  /** The key of whose runs are to end. */
  onMarked(key: string): void
}

async function markIn(
  { database, clock, onMarked }: EndingDeps,
  tx: Tx,
  { actorId, orgId }: Holder,
  credentialIds?: readonly string[],
): Promise<void> {
  const pause = createPausesInTransaction()
  const asked = { actorId, orgId, credentialIds, now: clock(), limit: AT_ONCE }
  const orgIds = new Set<string>()
  for (;;) {
    const marked = await cancels.requestCancels(tx, database.dialect, asked)
    for (const id of marked) orgIds.add(id)
    if (marked.length < AT_ONCE) break
    await pause()
  }
  database.afterCommit(tx, () => {
    for (const id of orgIds) onMarked(keyOf({ orgId: id, actorId }))
  })
}

interface Who {
  orgId: string
  actorId: string
}

const keyOf = ({ orgId, actorId }: Who) => `${orgId} ${actorId}`

/** Ends what was marked and nobody runs; those who run something elsewhere find the mark. After a crash it ends in its turn. */
export const createEndMarked =
  ({
    database,
    events,
    transitions,
    cancels: running,
  }: {
    database: Database
    events: EventsService
    transitions: Pick<Transitions, 'cancelIn'>
    cancels: Pick<Cancels, 'look'>
  }) =>
  async (key: string, signal: AbortSignal): Promise<void> => {
    const [orgId = '', actorId = ''] = key.split(' ')
    void running.look()
    let after = ''
    while (!signal.aborted) {
      const ids = await cancels.listMarkedOf(database.db, { orgId, actorId, after, limit: AT_ONCE })
      for (const id of ids) await database.transact((tx) => transitions.cancelIn(tx, events, id))
      after = ids.at(-1) ?? ''
      if (ids.length < AT_ONCE) return
    }
  }
