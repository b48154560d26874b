import { createAgents } from './agents/module.ts'
import { createAnonymousService } from './anonymous/service.ts'
import { createCode } from './code/module.ts'
import { createMetrics } from './doors/http/metrics.ts'
import { type Author, bySystem, createEventsService } from './events/service.ts'
import { createExpiry } from './expiry.ts'
import { createInvitesService } from './invites/service.ts'
import { createKeysService } from './keys/service.ts'
import { createKeyUsage } from './keys/usage.ts'
import { createInvitationsService } from './orgs/invitations.ts'
import { createMembersService } from './orgs/members.ts'
import { createOrgsService } from './orgs/service.ts'
import { createPeopleService } from './people/service.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { newId } from './platform/ids.ts'
import type { Log } from './platform/log.ts'
import type { Scratch } from './platform/scratch.ts'
import { createThrottles } from './platform/throttles.ts'
import { createReposService } from './repos/service.ts'
import type { Database, Tx } from './schema.ts'
import { createSealer } from './secrets/sealing.ts'
import type { ServerKey } from './secrets/server-key.ts'
import { createTokensService } from './tokens/service.ts'
import { createFanOut } from './webhooks/fan-out.ts'
import { createWebhooks } from './webhooks/module.ts'

interface FoundationDeps {
  config: Config
  database: Database
  clock: Clock
}

type Foundation = ReturnType<typeof createFoundation>

/** What can be made before it is known where the server is reached: enough for the first owner. */
export function createFoundation({ config, database, clock }: FoundationDeps) {
  const { limits } = config
  // Events come first; who delivers them is known later.
  const deliveries = { wake: () => {} }
  const events = createEventsService({
    database,
    clock,
    newId,
    subscribers: config.webhooks.enabled ? [createFanOut({ database, wake: () => deliveries.wake() })] : [],
  })
  const people = createPeopleService({ db: database.db })
  const orgs = createOrgsService({ database, events, clock, newId, limits })
  const keys = createKeysService({ database, events, orgs, clock, newId, limits })
  return { deliveries, events, people, orgs, keys }
}

interface ServicesDeps extends FoundationDeps {
  foundation: Foundation
  serverKey: ServerKey
  dataDir: string
  scratch: Scratch
  baseUrl: string
  log: Log
  /** Takes what has to be stopped at the end, last made first. */
  atEnd: AsyncDisposableStack
}

export type Services = ReturnType<typeof createServices>

/** Every service, with what it needs. */
export function createServices({ foundation, atEnd, serverKey, ...deps }: ServicesDeps) {
  const { config, database, clock, log, baseUrl } = deps
  const { limits } = config
  const { events, orgs, people, keys } = foundation
  const shared = { database, events, orgs, people, clock, newId, limits, baseUrl }

  const metrics = createMetrics()
  const repos = createReposService(shared)
  const code = createCode({ ...deps, events, orgs, people, repos, registry: metrics.registry })
  atEnd.defer(() => code.stop())
  const tokens = createTokensService({ ...shared, repos })
  const throttles = createThrottles({ database, clock })
  const anonymous = createAnonymousService({
    ...shared,
    repos,
    throttles,
    handOverInvitesIn: (tx, fromId, toId) => invites.handOverIn(tx, fromId, toId),
  })
  const invites = createInvitesService({
    ...shared,
    repos,
    tokens,
    anonymous,
    anonymousAccess: config.anonymous,
  })

  /** What an actor has handed out in an organization ends with them. */
  const revokeHandedOutIn = async (tx: Tx, author: Author, orgId: string, actorId: string) => {
    await tokens.revokeMintedByIn(tx, author, orgId, actorId)
    await invites.revokeCreatedByIn(tx, author, orgId, actorId)
  }
  const members = createMembersService({
    ...shared,
    revokeCredentialsIn: async (tx, orgId, userId) => {
      await keys.revokeAllIn(tx, bySystem, { orgId, userId })
      await revokeHandedOutIn(tx, bySystem, orgId, userId)
    },
  })
  const invitations = createInvitationsService(shared)
  const keyUsage = createKeyUsage({ database, clock })
  atEnd.defer(() => keyUsage.stop())

  const agents = createAgents({
    ...shared,
    repos,
    throttles,
    serverKey,
    revokeCredentialsIn: revokeHandedOutIn,
  })
  const expiry = createExpiry(
    {
      repositories: repos.deleteExpired,
      organizations: orgs.deleteExpired,
      agents: agents.registrations.deleteEnded,
      throttles: throttles.sweep,
    },
    log,
  )
  atEnd.defer(() => expiry.stop())

  const webhooks = config.webhooks.enabled
    ? createWebhooks({
        ...shared,
        config,
        repos,
        sealer: createSealer(serverKey, 'webhook secrets'),
        registry: metrics.registry,
        log,
      })
    : undefined
  if (webhooks) {
    foundation.deliveries.wake = webhooks.wake
    atEnd.defer(() => webhooks.stop())
  }

  return {
    ...foundation,
    ...agents,
    repos,
    code,
    tokens,
    anonymous,
    invites,
    members,
    invitations,
    keyUsage,
    expiry,
    metrics,
    webhooks,
  }
}
