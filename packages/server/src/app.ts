import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createCodeHasher } from './agents/codes.ts'
import { createGrants } from './agents/grants.ts'
import { agentsHandlers } from './agents/handlers.ts'
import { createRegistrationsService } from './agents/registrations.ts'
import { createAgentsService } from './agents/service.ts'
import { createSigningKeys } from './agents/signing-keys.ts'
import { createAnonymousService } from './anonymous/service.ts'
import { type Clock, systemClock } from './clock.ts'
import { gitHandlers, historyHandlers } from './code/handlers.ts'
import { claimScratch } from './code/scratch.ts'
import { createCode } from './code/wiring.ts'
import type { Config } from './config.ts'
import { openDatabase } from './db/database.ts'
import { eventsHandlers } from './events/handlers.ts'
import { bySystem, createEventsService } from './events/service.ts'
import { createExpiry } from './expiry.ts'
import { requireGit } from './git/version.ts'
import { createAddressReader } from './http/address.ts'
import { createAdmission } from './http/admission.ts'
import { createAgentDoor } from './http/agent-door.ts'
import { createApi } from './http/api.ts'
import { createAuthDoor } from './http/auth.ts'
import { createAuthenticator } from './http/authenticate.ts'
import type { BodyLimit } from './http/body.ts'
import { createClaimPage } from './http/claim-page.ts'
import { createCookie } from './http/cookies.ts'
import { createCors } from './http/cors.ts'
import { createDiscovery } from './http/discovery.ts'
import { createForms } from './http/forms.ts'
import { createGitDoor } from './http/git.ts'
import { createInvitePage, INVITE_PREFIX } from './http/invite-page.ts'
import { createLoginPage } from './http/login-page.ts'
import { createMetrics, createMetricsDoor } from './http/metrics.ts'
import { implement } from './http/operations.ts'
import { createPages } from './http/pages.ts'
import { createRateLimit } from './http/rate-limit.ts'
import { closeGracefully, type Door, openListener, portOf, serve } from './http/server.ts'
import { newId } from './ids.ts'
import { invitesHandlers } from './invites/handlers.ts'
import { createInvitesService } from './invites/service.ts'
import { keysHandlers } from './keys/handlers.ts'
import { createKeysService } from './keys/service.ts'
import { createKeyUsage } from './keys/usage.ts'
import type { Log } from './log.ts'
import { invitationsHandlers, membersHandlers, orgsHandlers } from './orgs/handlers.ts'
import { createInvitationsService } from './orgs/invitations.ts'
import { createMembersService } from './orgs/members.ts'
import { createOrgsService } from './orgs/service.ts'
import { createAuth } from './people/auth.ts'
import { ensureOwner } from './people/first-owner.ts'
import { createPeopleService } from './people/service.ts'
import { reposHandlers } from './repos/handlers.ts'
import { createReposService } from './repos/service.ts'
import type { Schema } from './schema.ts'
import { createSealer } from './sealed.ts'
import { loadServerKey, requireSameKey } from './server-key.ts'
import { createThrottles } from './throttles.ts'
import { tokensHandlers } from './tokens/handlers.ts'
import { createTokensService } from './tokens/service.ts'
import { createFanOut } from './webhooks/fan-out.ts'
import { webhooksHandlers } from './webhooks/handlers.ts'
import { createWebhooks } from './webhooks/wiring.ts'

export interface AppDeps {
  config: Config
  log: Log
  clock?: Clock
  /** Hold every answer against the contract. */
  checkOutput?: boolean
}

/** How often somebody at one address may try a password for one account. */
const PASSWORD_RATE = { perSecond: 1 / 30, burst: 10 }

export type App = Awaited<ReturnType<typeof startApp>>

/** The composition root: makes every part, hands each what it needs, and starts listening. */
export async function startApp({ config, log, clock = systemClock, checkOutput = false }: AppDeps) {
  const { limits } = config
  await requireGit()
  const dataDir = resolve(config.data)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const serverKey = await loadServerKey(config.secret, dataDir)
  const database = await openDatabase<Schema>(
    config.database.url
      ? { postgres: config.database.url, poolSize: config.database.poolSize }
      : { sqlite: join(dataDir, 'trellis.db') },
  )
  const undo: (() => Promise<void>)[] = [() => database.close()]
  /** One step that fails leaves no other undone. */
  const unwind = async () => {
    const failures: unknown[] = []
    for (const step of undo.reverse()) await step().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be stopped')
  }
  try {
    await requireSameKey(database, serverKey)
    // Events come first; who delivers them is put together below.
    let wakeWebhooks = () => {}
    const events = createEventsService({
      database,
      clock,
      newId,
      subscribers: config.webhooks.enabled ? [createFanOut({ database, wake: () => wakeWebhooks() })] : [],
    })
    const people = createPeopleService({ db: database.db })
    const orgs = createOrgsService({ database, events, clock, newId, limits })
    const keys = createKeysService({ database, events, orgs, clock, newId, limits })
    const ownerKey = await ensureOwner({ database, orgs, keys, clock, newId, dataDir, owner: config.owner })

    const scratch = await claimScratch(join(dataDir, 'scratch'))
    undo.push(() => scratch.stop())

    const { host, port } = config.listen
    const listener = await openListener(host, port)
    const baseUrl = config.baseUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${portOf(listener)}`

    const repos = createReposService({ database, events, orgs, clock, newId, limits, baseUrl })
    const code = createCode({ config, dataDir, scratch, database, events, orgs, people, repos, clock, log })
    undo.push(() => code.stop())
    const tokens = createTokensService({ database, events, orgs, repos, clock, newId })
    const anonymous = createAnonymousService({ database, orgs, repos, clock, newId, limits })
    const invites = createInvitesService({
      database,
      events,
      repos,
      tokens,
      anonymous,
      clock,
      newId,
      baseUrl,
      anonymousAccess: config.anonymous,
    })
    const throttles = createThrottles({ database, clock })
    const codes = createCodeHasher(serverKey)
    const signingKeys = createSigningKeys({
      database,
      sealer: createSealer(serverKey, 'signing keys'),
      clock,
      newId,
    })
    const grants = createGrants({
      database,
      signingKeys,
      clock,
      newId,
      issuer: baseUrl,
      personOf: people.get,
    })
    const registrations = createRegistrationsService({
      database,
      events,
      orgs,
      grants,
      codes,
      throttles,
      clock,
      newId,
      baseUrl,
      limits,
    })
    const agents = createAgentsService({
      database,
      events,
      orgs,
      repos,
      people,
      codes,
      throttles,
      clock,
      revokeCredentialsIn: async (tx, author, orgId, actorId) => {
        await tokens.revokeMintedByIn(tx, author, orgId, actorId)
        await invites.revokeCreatedByIn(tx, author, orgId, actorId)
      },
    })
    const expiry = createExpiry(
      { repositories: repos.deleteExpired, organizations: orgs.deleteExpired, throttles: throttles.sweep },
      log,
    )
    undo.push(() => expiry.stop())
    const members = createMembersService({
      database,
      events,
      orgs,
      revokeCredentialsIn: async (tx, orgId, userId) => {
        await keys.revokeAllIn(tx, bySystem, { orgId, userId })
        await tokens.revokeMintedByIn(tx, bySystem, orgId, userId)
        await invites.revokeCreatedByIn(tx, bySystem, orgId, userId)
      },
    })
    const invitations = createInvitationsService({ database, events, orgs, people, clock, newId })
    const keyUsage = createKeyUsage({ database, clock })
    undo.push(() => keyUsage.stop())

    const auth = createAuth({
      database,
      newId,
      baseUrl,
      secret: serverKey.derive('sessions'),
      signUp: config.signUp,
      providers: config.providers,
      trustedOrigins: config.corsOrigins,
      isInvited: invitations.admits,
      welcome: async (user) => {
        await database.transact((tx) => orgs.createPersonalIn(tx, user))
      },
    })

    const metrics = createMetrics()
    const webhooks = config.webhooks.enabled
      ? createWebhooks({
          config,
          database,
          events,
          repos,
          sealer: createSealer(serverKey, 'webhook secrets'),
          registry: metrics.registry,
          clock,
          log,
        })
      : undefined
    if (webhooks) {
      wakeWebhooks = webhooks.wake
      undo.push(() => webhooks.stop())
    }
    const rateLimit = createRateLimit(
      { perSecond: limits.requestsPerSecond, burst: limits.requestBurst },
      clock,
    )
    const secure = baseUrl.startsWith('https:')
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
    const admission = createAdmission({ authenticate, rateLimit })
    const passwordLimit = createRateLimit(PASSWORD_RATE, clock)
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
    const bodyLimit: BodyLimit = { bytes: limits.bodyBytes, scope: 'git_workspace_memory' }
    const commitLimit: BodyLimit = { bytes: limits.commitBodyBytes, scope: 'workspace_commit' }
    let stopping = false
    serve(listener, {
      api: createApi({
        operations: implement({
          orgs: orgsHandlers(orgs),
          members: membersHandlers(members, invitations),
          invitations: invitationsHandlers(invitations),
          keys: keysHandlers(keys),
          tokens: tokensHandlers(tokens),
          repos: { ...reposHandlers(repos), ...historyHandlers(code.forks, code.imports) },
          git: gitHandlers(code.refs, code.commits, code.browse),
          events: eventsHandlers(events, repos),
          webhooks: webhooksHandlers(webhooks),
          agents: agentsHandlers(agents),
          invites: invitesHandlers(invites),
        }),
        admission,
        anonymousCookie,
        bodyLimitOf: (path) => (path === '/git/commits/create' ? commitLimit : bodyLimit),
        checkOutput,
      }),
      auth: createAuthDoor({
        auth,
        baseUrl,
        rateLimit,
        passwordLimit,
        bodyLimit,
      }),
      git: createGitDoor({ admission, repos, fetches: code.fetches, pushes: code.pushes }),
      routes: {
        ...createDiscovery(baseUrl, config.anonymous),
        ...createAgentDoor({ registrations, grants, signingKeys, rateLimit, enabled: config.anonymous }),
        'GET /login': counted(loginPage.get),
        'POST /login': counted(loginPage.post),
        'GET /claim': counted(claimPage.get),
        'POST /claim': counted(claimPage.post),
        [`GET ${INVITE_PREFIX}*`]: counted(invitePage.get),
        [`POST ${INVITE_PREFIX}*`]: counted(invitePage.post),
        ...createPages({
          baseUrl,
          limits,
          isReady: async () => !stopping && (await database.answers()),
          metrics: createMetricsDoor(metrics, config.metricsToken),
        }),
      },
      cors: createCors(config.corsOrigins),
      addressOf: createAddressReader(config.trustedProxies),
      baseUrl,
      metrics,
      log,
    })
    undo.push(() => closeGracefully(listener, config.shutdownMs))
    log.info('listening', { url: baseUrl, database: database.dialect })

    return {
      url: baseUrl,
      /** The owner's API key, only when this start made it. */
      ownerKey,
      database,
      expiry,
      /** Finishes what is in flight, then lets go of everything. */
      async stop(): Promise<void> {
        stopping = true
        await unwind()
      },
    }
  } catch (error) {
    await unwind().catch(() => {})
    throw error
  }
}
