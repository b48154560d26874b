import type { Runtime } from '@trellis/contract'
import { openDatabase } from '../db/database.ts'
import { createGroundwork } from '../modules.ts'
import { createOrgsAdministration } from '../orgs/administration.ts'
import { createPeopleAdministration } from '../people/administration.ts'
import { createOwnerAccess } from '../people/owner-access.ts'
import { createScryptPasswords } from '../people/passwords.ts'
import { systemClock } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { createLog } from '../platform/log.ts'
import { createRegistry } from '../platform/metrics.ts'
import type { Schema } from '../schema.ts'
import type { Circumstances } from './command.ts'
import { placesOf, requireInUse } from './places.ts'

/**
 * People and organizations of the server that the settings are for, which may be running: it looks at the database for
 * every request, so it notices. What is told in a log reaches webhooks and extensions as if the server had told it.
 */
export async function openPeopleAndOrgs({ config, tell }: Pick<Circumstances, 'config' | 'tell'>) {
  const places = placesOf(config)
  await requireInUse(places)
  await using opening = new AsyncDisposableStack()
  const database = await openDatabase<Schema>(places.database, { asItIs: true })
  opening.defer(() => database.close())
  const passwords = opening.adopt(createScryptPasswords(), (hashers) => hashers.close())
  const runtimes: Runtime[] = [
    'worker',
    'workflow',
    ...(config.extensions.sandbox ? ['sandbox' as const] : []),
  ]
  const ground = {
    config,
    database,
    clock: systemClock,
    newId,
    log: createLog('warn', (lines) => tell(lines.trimEnd())),
    registry: createRegistry(),
  }
  const { events, ending, doings, retiring, credentialEnding } = createGroundwork({
    ...ground,
    enabled: new Set(runtimes),
  })
  const orgs = createOrgsAdministration({ ...ground, events, ending })
  const people = createPeopleAdministration({ ...ground, orgs, agents: retiring, doings, passwords })
  const owner = createOwnerAccess({ ...ground, credentialEnding, limits: config.limits })
  const opened = opening.move()
  return { orgs, people, owner, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
