import type { Db } from '../schema.ts'
import * as store from './store.ts'
import { type EventScope, repoIdOf } from './types.ts'

/** Something about a log that cannot be. */
interface EventProblem {
  scope: string
  /** Of which repository it tells, if it does. */
  repoId: string | undefined
  text: string
}

const PAGE = 500
const SHOWN = 100

/** Holds every log against its counter: numbers begin at 1, and none is left out. */
export async function* verifyEvents(db: Db, onLog: () => void): AsyncGenerator<EventProblem> {
  for (let after = ''; ; ) {
    const page = await store.listTallies(db, { after, limit: PAGE })
    for (const tally of page) {
      onLog()
      const { scope, last_seq: last, events, highest } = tally
      if (events === last && (highest ?? 0) === last) continue
      yield problem(
        scope,
        `the log counts ${last} events, and there are ${events} up to number ${highest ?? 0}`,
      )
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    after = last.scope
  }
  for (const scope of await store.listUncounted(db, SHOWN))
    yield problem(scope, 'the log has events and no counter')
}

const problem = (scope: string, text: string): EventProblem => ({
  scope,
  repoId: repoIdOf(scope as EventScope),
  text: `${text} (${scope})`,
})
