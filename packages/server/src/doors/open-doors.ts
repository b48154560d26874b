import type { Server } from 'node:http'
import { agentsHandlers } from '../agents/handlers.ts'
import { gitHandlers, historyHandlers } from '../code/handlers.ts'
import { eventsHandlers } from '../events/handlers.ts'
import { invitesHandlers } from '../invites/handlers.ts'
import { keysHandlers } from '../keys/handlers.ts'
import { type Handlers, implement } from '../operations/operations.ts'
import { invitationsHandlers, membersHandlers, orgsHandlers } from '../orgs/handlers.ts'
import { createAuth } from '../people/auth.ts'
import type { Passwords } from '../people/passwords.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import { newId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { reposHandlers } from '../repos/handlers.ts'
import type { Database } from '../schema.ts'
import type { ServerKey } from '../secrets/server-key.ts'
import type { Services } from '../services.ts'
import { tokensHandlers } from '../tokens/handlers.ts'
import { webhooksHandlers } from '../webhooks/handlers.ts'
import { createDiscovery } from './agents/discovery.ts'
import { createAgentDoor } from './agents/door.ts'
import { createCors } from './api/cors.ts'
import { createApi } from './api/door.ts'
import { createAuthDoor } from './auth/door.ts'
import { createAddressReader } from './entry/address.ts'
import { createAdmission } from './entry/admission.ts'
import { createAuthenticator } from './entry/authenticate.ts'
import { createCookie } from './entry/cookies.ts'
import { createRateLimit } from './entry/rate-limit.ts'
import { createGitDoor } from './git/door.ts'
import type { BodyLimit } from './http/body.ts'
import { createMetricsDoor } from './http/metrics.ts'
import { type Door, serve } from './http/server.ts'
import { createClaimPage } from './pages/claim.ts'
import { createForms } from './pages/forms.ts'
import { createInvitePage, INVITE_PREFIX } from './pages/invite.ts'
import { createLoginPage } from './pages/login.ts'
import { createPages } from './pages/pages.ts'

export interface DoorsDeps {
  config: Config
  database: Database
  serverKey: ServerKey
  services: Services
  baseUrl: string
  clock: Clock
  passwords: Passwords
  log: Log
  isStopping(): boolean
  /** Hold every answer against the contract. */
  checkOutput: boolean
}

/** How often somebody at one address may try a password for one account. */
const PASSWORD_RATE = { perSecond: 1 / 30, burst: 10 }

/** Puts the doors in front of the services, and lets callers in. */
export function openDoors(listener: Server, deps: DoorsDeps): void {
  const { config, database, serverKey, services, baseUrl, clock, log, isStopping, checkOutput } = deps
  const { limits } = config
  const { orgs, invitations, keyUsage, anonymous, repos, code, agents, invites, metrics } = services
  const secure = baseUrl.startsWith('https:')

  const auth = createAuth({
    database,
    newId,
    baseUrl,
    secret: serverKey.derive('sessions'),
    passwords: deps.passwords,
    signUp: config.signUp,
    providers: config.providers,
    trustedOrigins: config.corsOrigins,
    isInvited: invitations.admits,
    welcome: async (user) => {
      await database.transact((tx) => orgs.createPersonalIn(tx, user))
    },
  })
  const anonymousCookie = createCookie('trellis.anonymous', {
    maxAgeSeconds: limits.provisionalMs / 1000,
    secure,
  })
  const authenticate = createAuthenticator({
    database,
    auth,
    orgs,
    keyUsage,
    clock,
    anonymous,
    anonymousCookie,
    ownerKey: config.owner.key,
  })
  const rate = { perSecond: limits.requestsPerSecond, burst: limits.requestBurst }
  const rateLimit = createRateLimit(rate, clock)
  const passwordLimit = createRateLimit(PASSWORD_RATE, clock)
  const admission = createAdmission({ authenticate, rateLimit })
  const bodyLimit: BodyLimit = { bytes: limits.bodyBytes, scope: 'git_workspace_memory' }
  const commitLimit: BodyLimit = { bytes: limits.commitBodyBytes, scope: 'workspace_commit' }

  const forms = createForms({
    serverKey,
    baseUrl,
    cookie: createCookie('trellis.form', { maxAgeSeconds: 3600, secure, sameSite: 'Strict' }),
  })
  const loginPage = createLoginPage({ auth, authenticate, forms, passwordLimit, signUp: config.signUp })
  const claimPage = createClaimPage({ agents, authenticate, forms })
  const invitePage = createInvitePage({ invites, baseUrl })
  /** Pages are counted by address, whoever is signed in there. */
  const counted = (door: Door): Door => {
    return (exchange) => {
      admission.countStranger(exchange)
      return door(exchange)
    }
  }

  serve(listener, {
    api: createApi({
      operations: implement(handlersOf(services)),
      admission,
      anonymousCookie,
      bodyLimitOf: (path) => (path === '/git/commits/create' ? commitLimit : bodyLimit),
      checkOutput,
    }),
    auth: createAuthDoor({ auth, baseUrl, rateLimit, passwordLimit, bodyLimit }),
    git: createGitDoor({ admission, repos, fetches: code.fetches, pushes: code.pushes }),
    routes: {
      ...createDiscovery(baseUrl, config.anonymous),
      ...createAgentDoor({ ...services, rateLimit, enabled: config.anonymous }),
      'GET /login': counted(loginPage.get),
      'POST /login': counted(loginPage.post),
      'GET /claim': counted(claimPage.get),
      'POST /claim': counted(claimPage.post),
      [`GET ${INVITE_PREFIX}*`]: counted(invitePage.get),
      [`POST ${INVITE_PREFIX}*`]: counted(invitePage.post),
      ...createPages({
        baseUrl,
        limits,
        isReady: async () => !isStopping() && (await database.answers()),
        metrics: createMetricsDoor(metrics, config.metricsToken),
      }),
    },
    cors: createCors(config.corsOrigins),
    addressOf: createAddressReader(config.trustedProxies),
    baseUrl,
    metrics,
    log,
  })
}

/** Which service stands behind which operation. */
function handlersOf(services: Services): Handlers {
  const { code, invitations, repos } = services
  return {
    orgs: orgsHandlers(services.orgs),
    members: membersHandlers(services.members, invitations),
    invitations: invitationsHandlers(invitations),
    keys: keysHandlers(services.keys),
    tokens: tokensHandlers(services.tokens),
    repos: { ...reposHandlers(repos), ...historyHandlers(code.forks, code.imports) },
    git: gitHandlers(code.refs, code.commits, code.browse),
    events: eventsHandlers(services.events, repos),
    webhooks: webhooksHandlers(services.webhooks),
    agents: agentsHandlers(services.agents),
    invites: invitesHandlers(services.invites),
  }
}
