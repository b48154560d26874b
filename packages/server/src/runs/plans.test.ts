import assert from 'node:assert/strict'
import { it } from 'node:test'
import { countByStatus, findFirstDue } from '../daemons/store.ts'
import type { Db, Schema } from '../schema.ts'
import { onEachDatabase, plansOf, useDatabase } from '../testing/index.ts'
import { sumWithoutOldestEnded } from './kept-store.ts'
import { listAbandoned, listToWake } from './queue-store.ts'
import { countUnderWay, measureQueues } from './store.ts'

onEachDatabase('what is asked again and again', (create) => {
  const database = useDatabase<Schema>(create, {})
  const plans = (work: (db: Db) => Promise<unknown>) => plansOf<Schema>(database, work)

  it('goes through no workflow that sleeps', async () => {
    const [due, reached] = await plans((db) => listToWake(db, 1, 10))
    assert.match(due ?? '', /runs_due/)
    assert.match(reached ?? '', /run_steps_arrived/)
    // PostgreSQL goes by what it knows of the tables, and these are empty.
    if (database.dialect === 'sqlite') assert.doesNotMatch(reached ?? '', /runs_running/)
    const [abandoned] = await plans((db) => listAbandoned(db, { now: 1, leaseMs: 1, limit: 10 }))
    assert.match(abandoned ?? '', /runs_running.*(\n.*Cond: \(worker_id IS NOT NULL\)|worker_id>)/)
  })

  it('looks at no more of what has ended than has to go', async () => {
    const [plan] = await plans((db) => sumWithoutOldestEnded(db, { orgId: 'org_1', ended: 10 }))
    assert.match(plan ?? '', /runs_org_ended/)
    assert.doesNotMatch(plan ?? '', /Sort|TEMP B-TREE/)
  })

  it('counts in indexes alone', async () => {
    const measured = []
    for (const measure of [measureQueues, countUnderWay, countByStatus, findFirstDue])
      measured.push(...(await plans(measure)))
    assert.equal(measured.length, 6)
    for (const plan of measured) assert.match(plan, /Index( Only)? Scan|Bitmap Index|USING (COVERING )?INDEX/)
  })
})
