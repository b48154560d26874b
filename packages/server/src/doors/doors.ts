import type { PackSurvey } from '../code/survey.ts'
import type { PublishedSchemas } from '../extensions/published-schemas.ts'
import type { Handlers } from '../operations/handlers.ts'
import { implement } from '../operations/implement.ts'
import type { Clock, Stopwatch } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Registry } from '../platform/metrics.ts'
import type { Room } from '../platform/room.ts'
import type { Database } from '../schema.ts'
import type { ServerKey } from '../secrets/server-key.ts'
import { createDiscovery } from './agents/discovery.ts'
import type { AgentDoorDeps } from './agents/door.ts'
import { createAgentDoor } from './agents/door.ts'
import { createCors } from './api/cors.ts'
import { createApi, createApiFront } from './api/door.ts'
import { createAskAuth } from './auth/asking.ts'
import { createAuthDoor, createAuthFront } from './auth/door.ts'
import { closed } from './closed.ts'
import { ASSETS_PREFIX, type Console, pageOfOrg } from './console/door.ts'
import { createDownloads, type DownloadsDeps, servesDownloads } from './downloads/door.ts'
import { createAdmission } from './entry/admission.ts'
import { type AuthenticatorDeps, createAuthenticator } from './entry/authenticate.ts'
import { createCookie } from './entry/cookies.ts'
import { createPasswordLimit } from './entry/password-limit.ts'
import { createRateLimit } from './entry/rate-limit.ts'
import { createGitDoor, createGitFront, type GitDoorDeps } from './git/door.ts'
import type { BodyLimit } from './http/body.ts'
import type { Door, Route, Routes } from './http/door.ts'
import { createLargeBodies } from './http/large-bodies.ts'
import { createAccountPages } from './pages/account/routes.ts'
import { type ClaimPageDeps, createClaimPage } from './pages/claim.ts'
import { createCodePage } from './pages/code.ts'
import { CONFIRM_ADDRESS_PREFIX, createConfirmAddressPage } from './pages/confirm-address.ts'
import { createPagesFront } from './pages/door.ts'
import { createEnterPage, ENTER_PREFIX, type EnterPageDeps } from './pages/enter.ts'
import { createForms } from './pages/forms.ts'
import { createInvitationPage, INVITATION_PREFIX, type InvitationPageDeps } from './pages/invitation.ts'
import { createInvitePage, INVITE_PREFIX, type InvitePageDeps } from './pages/invite.ts'
import type { Limits } from './pages/limits.ts'
import { createLoginPage } from './pages/login.ts'
import { createMetricsPage } from './pages/metrics.ts'
import { passkeysWorkAt } from './pages/passkey-script.ts'
import { createPasswordResetPages, FORGOT_PATH, RESET_PREFIX } from './pages/password-reset.ts'
import { createProviderPage } from './pages/provider.ts'
import { PROVIDER_PATH } from './pages/provider-links.ts'
import { createReadiness } from './pages/readiness.ts'
import { createRouter } from './pages/router.ts'
import { createPageRoutes } from './pages/routes.ts'
import { createWithoutAccountPage, WITHOUT_ACCOUNT_PATH } from './pages/without-account.ts'
import { createTransfers, servesTransfers, type TransfersDeps } from './records/transfers.ts'
import { createTails, servesTails, type TailsDeps } from './tails/door.ts'

/** The services that doors lead to. */
type Behind = Pick<AuthenticatorDeps, 'auth' | 'orgs' | 'keyUsage' | 'agentUsage' | 'anonymous'> &
  Pick<GitDoorDeps, 'repos' | 'fetches' | 'pushes'> &
  Pick<AgentDoorDeps, 'registrations' | 'grants' | 'signingKeys'> &
  Pick<ClaimPageDeps, 'agents'> &
  Pick<InvitePageDeps, 'invites'> &
  Pick<EnterPageDeps, 'entryLinks'> &
  Pick<InvitationPageDeps, 'invitations' | 'people'> &
  Pick<TransfersDeps, 'records'> &
  Pick<DownloadsDeps, 'downloads'> &
  Pick<TailsDeps, 'tailing' | 'logs' | 'runs'> & { survey: PackSurvey; descriptorSchemas: PublishedSchemas }

interface DoorsDeps {
  config: Config
  database: Database
  serverKey: ServerKey
  services: Behind
  handlers: Handlers
  registry: Registry
  clock: Clock
  stopwatch: Stopwatch
  room: Room
  /** Which runtimes of extensions are off and why, in words for the operator. */
  runtimesOff: readonly string[]
  /** What people see in a browser; undefined where it has not been built. */
  console: Console | undefined
  /** Bounds that are no settings. */
  bounds: Limits['bounds']
  isStopping(): boolean
  /** Hold every answer against the contract. */
  checkOutput: boolean
}

/** Every door there is: closed at first, open when there is something behind it. */
export function createDoors({ baseUrl, config }: { baseUrl: string; config: Config }) {
  const cors = createCors(config.corsOrigins)
  const api = createApiFront({ baseUrl, cors })
  const fronts = {
    // Before the operations, whose path is the beginning of theirs.
    transfers: { ...api, serves: servesTransfers },
    tails: { ...api, serves: servesTails },
    downloads: { ...api, serves: servesDownloads },
    api,
    auth: createAuthFront(baseUrl),
    git: createGitFront({ baseUrl, cors }),
    // The last: it serves whatever the others do not.
    pages: createPagesFront(baseUrl),
  }

  return {
    closed: Object.values(fronts).map(closed),

    open({
      database,
      serverKey,
      services,
      handlers,
      registry,
      clock,
      stopwatch,
      ...deps
    }: DoorsDeps): Door[] {
      const { limits, connections, runs, sandbox } = config
      const secure = baseUrl.startsWith('https:')
      const anonymousCookie = createCookie('trellis.anonymous', {
        maxAgeSeconds: limits.provisionalMs / 1000,
        secure,
      })
      const authenticate = createAuthenticator({
        ...services,
        database,
        clock,
        anonymousCookie,
        ownerKey: config.owner.key,
      })
      const rate = { perSecond: limits.requestsPerSecond, burst: limits.requestBurst }
      const rateLimit = createRateLimit(rate, stopwatch)
      const passwordLimit = createPasswordLimit({ stopwatch, hasProxies: config.trustedProxies.length > 0 })
      const admission = createAdmission({ authenticate, rateLimit, anonymousCookie, baseUrl })
      const json: BodyLimit = { bytes: limits.bodyBytes, scope: 'git_workspace_memory' }
      const commit: BodyLimit = { bytes: limits.commitBodyBytes, scope: 'workspace_commit' }
      /** Nobody who comes to sign in has more to say. */
      const credentials: BodyLimit = { ...json, bytes: Math.min(json.bytes, 64 * 1024) }
      const largeBodies = createLargeBodies()
      const { settled } = database

      const forms = createForms({
        serverKey,
        baseUrl,
        cookie: createCookie('trellis.form', { maxAgeSeconds: 3600, secure, sameSite: 'Strict' }),
      })
      const { auth, agents, invites } = services
      const { signUp } = config
      const canMail = config.mail.smtpUrl !== undefined
      const ask = createAskAuth(auth)
      const passkeys = passkeysWorkAt(baseUrl)
      const signingIn = { ask, authenticate, forms, passwordLimit, passkeys }
      const withoutAccountPath = config.anonymous ? WITHOUT_ACCOUNT_PATH : undefined
      const login = createLoginPage({ ...signingIn, auth, signUp, canMail, withoutAccountPath })
      const code = createCodePage({ ...signingIn, path: auth.codePath })
      const claim = createClaimPage({ agents, authenticate, forms })
      const invite = createInvitePage({ invites, baseUrl })
      const withoutAccount = createWithoutAccountPage({
        ...{ invites, authenticate, forms, anonymousCookie, lastsMs: limits.provisionalMs },
        newPath: deps.console ? '/new' : '/',
      })
      const homeOf = deps.console ? pageOfOrg : () => '/'
      const entering = { ...services, ask, authenticate, forms, passwordLimit, signUp, homeOf }
      const enter = createEnterPage(entering)
      const invitation = createInvitationPage(entering)
      const reset = createPasswordResetPages({ ...entering, enabled: canMail })
      const confirmAddress = createConfirmAddressPage(entering)
      /** Pages are counted by address, whoever is signed in there. */
      const counted = (route: Route): Route => {
        return (exchange) => {
          admission.countStranger(exchange)
          return route(exchange)
        }
      }
      const countedAll = (routes: Routes): Routes =>
        Object.fromEntries(Object.entries(routes).map(([path, route]) => [path, counted(route)]))

      const api = createApi({
        operations: implement(handlers),
        admission,
        anonymousCookie,
        bodyLimits: { json, commit },
        largeBodies,
        cors,
        settled,
        checkOutput: deps.checkOutput,
      })
      const { console } = deps
      const routes: Routes = {
        ...createDiscovery(baseUrl, config.anonymous),
        ...createAgentDoor({ ...services, rateLimit, baseUrl, enabled: config.anonymous }),
        'GET /login': counted(login.get),
        'POST /login': counted(login.post),
        [`GET ${PROVIDER_PATH}`]: counted(createProviderPage({ ask, auth, baseUrl })),
        [`GET ${auth.codePath}`]: counted(code.get),
        [`POST ${auth.codePath}`]: counted(code.post),
        ...countedAll(
          createAccountPages({
            ...signingIn,
            canMail,
            providers: auth.providers,
            hasConsole: console !== undefined,
          }),
        ),
        'GET /claim': counted(claim.get),
        'POST /claim': counted(claim.post),
        [`GET ${ENTER_PREFIX}*`]: counted(enter.get),
        [`POST ${ENTER_PREFIX}*`]: counted(enter.post),
        [`GET ${INVITATION_PREFIX}*`]: counted(invitation.get),
        [`POST ${INVITATION_PREFIX}*`]: counted(invitation.post),
        [`GET ${FORGOT_PATH}`]: counted(reset.getForgot),
        [`POST ${FORGOT_PATH}`]: counted(reset.postForgot),
        [`GET ${RESET_PREFIX}*`]: counted(reset.getReset),
        [`POST ${RESET_PREFIX}*`]: counted(reset.postReset),
        ...(canMail && {
          [`GET ${CONFIRM_ADDRESS_PREFIX}*`]: counted(confirmAddress.get),
          [`POST ${CONFIRM_ADDRESS_PREFIX}*`]: counted(confirmAddress.post),
        }),
        ...(withoutAccountPath && {
          [`GET ${withoutAccountPath}`]: counted(withoutAccount.get),
          [`POST ${withoutAccountPath}`]: counted(withoutAccount.post),
        }),
        [`GET ${INVITE_PREFIX}*`]: counted(invite.get),
        [`POST ${INVITE_PREFIX}*`]: counted(invite.post),
        ...createPageRoutes({
          baseUrl,
          limits: { ...limits, connections, runs, sandbox, bounds: deps.bounds },
          whyUnready: createReadiness({ isStopping: deps.isStopping, database, room: deps.room }),
          problems: services.survey.problems,
          runtimesOff: deps.runtimesOff,
          descriptorSchemas: services.descriptorSchemas,
          console,
          metrics: createMetricsPage(registry, config.metricsToken),
        }),
        ...(console && { [`GET ${ASSETS_PREFIX}*`]: counted(console.asset) }),
      }
      const pages = createRouter(routes, console && counted(console.page))
      return [
        {
          ...fronts.transfers,
          handle: createTransfers({ ...services, admission, cors, bodyLimit: json, largeBodies }),
        },
        {
          ...fronts.tails,
          handle: createTails({ ...services, admission, cors, registry, stopwatch, limits }),
        },
        {
          ...fronts.downloads,
          handle: createDownloads({ ...services, admission, cors, processes: config.git.processes }),
        },
        { ...fronts.api, handle: api },
        {
          ...fronts.auth,
          handle: createAuthDoor({ auth, baseUrl, rateLimit, passwordLimit, bodyLimit: credentials }),
        },
        {
          ...fronts.git,
          handle: createGitDoor({ ...services, admission, cors, largeBodies, settled, console }),
        },
        { ...fronts.pages, handle: pages },
      ]
    },
  }
}
