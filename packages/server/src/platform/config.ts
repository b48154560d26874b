import * as z from 'zod'
import { isAddressRange } from './addresses.ts'
import { StartError } from './start-error.ts'

const MB = 1024 * 1024
const GB = 1024 * MB

const text = z.string().min(1)
const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
)
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .transform((url) => url.replace(/\/+$/, ''))
const isDecodable = (url: string): boolean => {
  try {
    const { username, password } = new URL(url)
    return decodeURIComponent(username + password) !== undefined
  } catch {
    return false
  }
}
/** Links, cookies and the addresses of git and agents all begin at the root. */
const originUrl = httpUrl.refine((given) => {
  const { origin, href } = new URL(given)
  return href === `${origin}/`
}, 'must be a scheme and a host, and no path: Trellis needs a host name or a port of its own')
const oneOf = <const T extends string>(...values: T[]) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

interface Setting<T = unknown> {
  about: string
  schema: z.ZodType<T, string>
  /** As it would be written in the environment; without one the setting is off until given. */
  fallback?: string
}

const setting = <T>(about: string, schema: z.ZodType<T, string>): Setting<T> => ({ about, schema })
const defaulted = <T>(about: string, fallback: string, schema: z.ZodType<T, string>) => ({
  about,
  schema,
  fallback,
})

/** Every setting there is, by its name in the environment. `docs/configuration.md` is made from this. */
export const settings = {
  TRELLIS_LISTEN: defaulted(
    'Address and port to listen on. Port 0 takes a free one.',
    '127.0.0.1:8787',
    z
      .string()
      .regex(/^(.+):(\d{1,5})$/, 'must look like 127.0.0.1:8787')
      .transform((value) => {
        const colon = value.lastIndexOf(':')
        return {
          host: value.slice(0, colon).replaceAll(/[[\]]/g, ''),
          port: Number(value.slice(colon + 1)),
        }
      })
      .refine(({ port }) => port <= 65_535, 'must have a port up to 65535'),
  ),
  TRELLIS_BASE_URL: setting(
    'Where clients reach the server, for links and remotes: scheme and host, without a path. Set it behind a proxy. Default: the address listened on.',
    originUrl,
  ),
  TRELLIS_DATA: defaulted('Directory of everything the server keeps on disk.', './data', text),
  TRELLIS_DATABASE_URL: setting(
    'A PostgreSQL URL. Default: SQLite in the data directory.',
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, { error: 'must begin with postgres:// or postgresql://', abort: true })
      .refine(
        URL.canParse,
        'must be a URL, with what is special in the password written as %40 and the like',
      ),
  ),
  TRELLIS_DATABASE_POOL: defaulted('Connections to PostgreSQL, per process.', '10', wholeNumber(2, 1000)),
  TRELLIS_DATABASE_WAIT_SECONDS: defaulted(
    'How long a start waits for a PostgreSQL that cannot be reached.',
    '60',
    wholeNumber(0, 86_400),
  ),
  TRELLIS_SECRET: setting(
    'Key for sessions and for what is encrypted at rest; the same for every process over one database. Default: made at the first start and kept in the data directory as `server.key`.',
    z.string().min(32, 'must have at least 32 characters'),
  ),
  TRELLIS_OWNER_EMAIL: defaulted(
    'Address of the account made at the first start. The link printed then can change it.',
    'owner@trellis.local',
    z.email('must be an email address'),
  ),
  TRELLIS_OWNER_KEY: setting(
    'API key of that account, for automation: any secret of 16 characters or more. It is read at every start: another one replaces the one before. Default: made at the first start and kept in the data directory as `owner.key`.',
    z.string().min(16, 'must have at least 16 characters'),
  ),
  TRELLIS_OWNER_PASSWORD: setting(
    'Password of that account, at the first start. Default: none until the link printed then is used.',
    z.string().min(10, 'must have at least 10 characters').max(256),
  ),
  TRELLIS_SIGN_UP: defaulted(
    'Who may sign up: `open` to all, `invited` for people an organization has invited, or `closed`.',
    'open',
    oneOf('open', 'invited', 'closed'),
  ),
  TRELLIS_SMTP_URL: setting(
    'Server that mail is sent through, such as `smtps://user:password@mail.example.com`: invitations, confirmations of addresses, new passwords. With a password it has to offer encryption. Default: no mail; links are shown to whoever may hand them over.',
    z
      .url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps URL' })
      .refine(isDecodable, 'must have user name and password percent-encoded'),
  ),
  TRELLIS_MAIL_FROM: setting(
    'Address that mail comes from. Default: `trellis` at the host of the base URL.',
    z.email('must be an email address'),
  ),
  TRELLIS_GITHUB_URL: defaulted(
    'Sign-in with GitHub: where it is, for an Enterprise Server of your own.',
    'https://github.com',
    httpUrl,
  ),
  TRELLIS_GITHUB_CLIENT_ID: setting('Sign-in with GitHub: client id of the OAuth app.', text),
  TRELLIS_GITHUB_CLIENT_SECRET: setting('Sign-in with GitHub: client secret.', text),
  TRELLIS_OIDC_ISSUER: setting('Sign-in with an OpenID Connect provider: its issuer URL.', httpUrl),
  TRELLIS_OIDC_NAME: defaulted('What the provider is called on the sign-in page.', 'Single sign-on', text),
  TRELLIS_OIDC_CLIENT_ID: setting('Sign-in with an OpenID Connect provider: client id.', text),
  TRELLIS_OIDC_CLIENT_SECRET: setting('Sign-in with an OpenID Connect provider: client secret.', text),
  TRELLIS_ANONYMOUS: defaulted(
    'Whether callers without an account are served: agents that register themselves, invites to new repositories. `on` or `off`.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_TRUSTED_PROXIES: defaulted(
    'Addresses and CIDR ranges, comma-separated, whose `X-Forwarded-For` is believed.',
    '',
    list.refine((entries) => entries.every(isAddressRange), 'must be IP addresses or CIDR ranges'),
  ),
  TRELLIS_CORS_ORIGINS: defaulted(
    'Origins, comma-separated, whose pages may call the API and git from a browser.',
    '',
    list.pipe(z.array(httpUrl)),
  ),
  TRELLIS_EGRESS_ALLOW: defaulted(
    'Hosts and CIDR ranges, comma-separated, that imports, webhooks and extensions may reach although they are not public addresses.',
    '',
    list.refine(
      (entries) => entries.every((entry) => !entry.includes('/') || isAddressRange(entry)),
      'must be host names, IP addresses or CIDR ranges',
    ),
  ),
  TRELLIS_CA_FILE: setting(
    'A file with certificates of authorities, in PEM, that are believed beside the usual ones: by webhooks, imports, extensions and whatever else the server connects to.',
    text,
  ),
  TRELLIS_WEBHOOKS: defaulted(
    'Whether there are webhooks. While they are `off`, events are delivered nowhere, and not later either.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_WEBHOOK_RETRY_SECONDS: defaulted(
    'Seconds, comma-separated, to wait after each attempt of a webhook delivery that failed. After the last one it has failed for good.',
    '5,300,1800,7200,18000,36000,36000',
    list.pipe(z.array(wholeNumber(0, 30 * 86_400)).max(50)),
  ),
  TRELLIS_WEBHOOK_TIMEOUT_SECONDS: defaulted(
    'How long the receiver of a webhook may take for a complete answer.',
    '15',
    wholeNumber(1, 300),
  ),
  TRELLIS_WEBHOOK_CONCURRENCY: defaulted(
    'Webhook deliveries this process may have in flight; with 0 it leaves them to others.',
    '64',
    wholeNumber(0, 10_000),
  ),
  TRELLIS_WEBHOOK_LEASE_SECONDS: defaulted(
    'How long a process may be silent before others take over its webhook deliveries; the same for every process over one database.',
    '15',
    wholeNumber(1, 3600),
  ),
  TRELLIS_WEBHOOK_RETENTION_DAYS: defaulted(
    'How long webhook deliveries that ended are kept.',
    '30',
    wholeNumber(1, 36_500),
  ),
  TRELLIS_EXTENSIONS: defaulted(
    'Whether there are extensions, and with them their records, runs, daemons and secrets.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_RECORDS: defaulted(
    'Whether rows of records can be read and written. What is promoted changes their schemas also while they cannot.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_SANDBOX: defaulted(
    'Whether extensions may run in the sandbox runtime, as processes of this machine.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_SANDBOX_TIMEOUT_SECONDS: defaulted(
    'How long a run in the sandbox may take.',
    '600',
    wholeNumber(1, 86_400),
  ),
  TRELLIS_SANDBOX_MEMORY_MB: defaulted(
    'Memory of a run in the sandbox, all its processes together.',
    '1024',
    wholeNumber(128, 1024 * 1024),
  ),
  TRELLIS_SANDBOX_DISK_MB: defaulted(
    'What a run in the sandbox may write to its tree and `/tmp`. It is kept in memory, on top of the other.',
    '512',
    wholeNumber(16, 1024 * 1024),
  ),
  TRELLIS_SANDBOX_PROCESSES: defaulted(
    'Processes and threads of a run in the sandbox. Node alone has about fifteen.',
    '256',
    wholeNumber(32, 100_000),
  ),
  TRELLIS_SANDBOX_CONCURRENCY: defaulted(
    'Runs in the sandbox at once, in this process. Half of these places are for organizations that hold none.',
    '8',
    wholeNumber(1, 1000),
  ),
  TRELLIS_ORG_MAX_SANDBOXED: defaulted(
    'Runs of an organization in the sandbox at once, in all processes.',
    '2',
    wholeNumber(1, 1000),
  ),
  TRELLIS_SANDBOX_TREE_BYTES: defaulted(
    'Disk space for the files of commits, so that the next run of the same commit need not check them out.',
    String(2 * GB),
    wholeNumber(0),
  ),
  TRELLIS_BUNDLE_CACHE_BYTES: defaulted(
    'Disk space for built modules of extensions. What is in force is kept on top of it.',
    String(2 * GB),
    wholeNumber(0),
  ),
  TRELLIS_RUN_TIMEOUT_SECONDS: defaulted(
    'How long a run of an extension may take; in the workflow runtime each stretch between two steps.',
    '30',
    wholeNumber(1, 3600),
  ),
  TRELLIS_RUN_MEMORY_MB: defaulted('Memory of a run in the worker runtime.', '128', wholeNumber(16, 4096)),
  TRELLIS_RUN_LOG_BYTES: defaulted(
    'What the log of a run may take. What it says beyond that is not kept.',
    String(MB),
    wholeNumber(1024, 64 * MB),
  ),
  TRELLIS_RUN_CONCURRENCY: defaulted(
    'Runs of extensions this process may have under way, those in the sandbox apart; with 0 it leaves all to others.',
    '16',
    wholeNumber(0, 1000),
  ),
  TRELLIS_RUN_LEASE_SECONDS: defaulted(
    'How long a process may be silent before others take over its runs; the same for every process over one database.',
    '15',
    wholeNumber(1, 3600),
  ),
  TRELLIS_RUN_RETENTION_DAYS: defaulted(
    'How long runs that ended are kept, with their logs.',
    '30',
    wholeNumber(1, 36_500),
  ),
  TRELLIS_ORG_MAX_RUNNING: defaulted(
    'Runs of an organization under way at once, in all processes, those in the sandbox apart.',
    '8',
    wholeNumber(1, 1000),
  ),
  TRELLIS_ORG_MAX_QUEUED: defaulted(
    'Runs of an organization that may wait. Beyond it, runs are rejected.',
    '1000',
    wholeNumber(1, 100_000),
  ),
  TRELLIS_ORG_MAX_RUN_BYTES: defaulted(
    'What is kept of the runs of an organization, with their logs. Beyond it, the oldest that ended are removed.',
    String(GB),
    wholeNumber(MB),
  ),
  TRELLIS_ORG_MAX_DAEMONS: defaulted(
    'Daemons in all repositories of an organization.',
    '1000',
    wholeNumber(0, 100_000),
  ),
  TRELLIS_METRICS_TOKEN: setting(
    'Bearer token for `/metrics`. Without it only callers on the same machine may read them.',
    z.string().min(16, 'must have at least 16 characters'),
  ),
  TRELLIS_LOG_LEVEL: defaulted(
    'The least serious log lines to print.',
    'info',
    oneOf('debug', 'info', 'warn', 'error'),
  ),
  TRELLIS_SHUTDOWN_SECONDS: defaulted(
    'How long requests in flight may take to finish after SIGTERM.',
    '30',
    wholeNumber(0, 3600),
  ),
  TRELLIS_MAX_CONNECTIONS: defaulted(
    'Connections open at once, per process. What comes on top is closed at once.',
    '10000',
    wholeNumber(1),
  ),
  TRELLIS_ADDRESS_MAX_CONNECTIONS: defaulted(
    'Connections open at once from one address (not for loopback, nor for trusted proxies).',
    '500',
    wholeNumber(1),
  ),
  TRELLIS_BODY_MIN_BYTES_PER_SECOND: defaulted(
    'How fast the body of a request has to arrive, pushes included. A connection that stays below it for 30 seconds is closed.',
    '1000',
    wholeNumber(0),
  ),
  TRELLIS_MAX_TAILS: defaulted(
    'Live tails of logs open at once, per process. An organization may have half of them.',
    '5000',
    wholeNumber(1),
  ),
  TRELLIS_CALLER_MAX_TAILS: defaulted(
    'Live tails that one person or agent may have open at once, per process.',
    '100',
    wholeNumber(1),
  ),
  TRELLIS_RATE_PER_SECOND: defaulted(
    'Requests per second for each credential, and for each address without one (not for loopback).',
    '100',
    wholeNumber(1),
  ),
  TRELLIS_RATE_BURST: defaulted(
    'Requests that may come at once before that rate holds.',
    '2000',
    wholeNumber(1),
  ),
  TRELLIS_MAX_BODY_BYTES: defaulted('Largest JSON body.', String(MB), wholeNumber(1024, 1024 * MB)),
  TRELLIS_PUSH_MAX_BYTES: defaulted('Largest push.', String(2 * GB), wholeNumber(1024)),
  TRELLIS_PUSH_MAX_REFS: defaulted('Refs that one push may move.', '50000', wholeNumber(1, 100_000)),
  TRELLIS_COMMIT_MAX_BYTES: defaulted(
    'Largest body of git/commits/create.',
    String(50 * MB),
    wholeNumber(1024, 1024 * MB),
  ),
  TRELLIS_REPO_MAX_BYTES: defaulted('Largest repository.', String(10 * GB), wholeNumber(1024)),
  TRELLIS_REPO_MAX_REFS: defaulted('Refs of a repository.', '100000', wholeNumber(1)),
  TRELLIS_ORG_MAX_BYTES: defaulted(
    'All repositories of an organization together.',
    String(100 * GB),
    wholeNumber(1024),
  ),
  TRELLIS_CLONE_CACHE_BYTES: defaulted(
    'Disk space for the answers to clones, so that the next clone of the same commit costs nothing.',
    String(2 * GB),
    wholeNumber(0),
  ),
  TRELLIS_OBJECT_MEMORY_BYTES: defaulted(
    'Memory for git objects that were read and for indexes of packs, so that the next who asks needs neither disk nor git. One organization may have three quarters of it.',
    String(128 * MB),
    wholeNumber(0),
  ),
  TRELLIS_UNREACHABLE_HOURS: defaulted(
    'How long commits that no ref leads to any more, as of a deleted branch, are kept and can be had back by their id.',
    '168',
    wholeNumber(1, 24 * 3650),
  ),
  TRELLIS_GIT_PROCESSES: defaulted(
    'Git processes that may run at once; more wait in line, each organization in turn.',
    '8',
    wholeNumber(1, 1000),
  ),
  TRELLIS_ORG_MAX_REPOS: defaulted('Repositories in an organization.', '10000', wholeNumber(1)),
  TRELLIS_PROVISIONAL_HOURS: defaulted(
    'How long repositories of anonymous callers last unless somebody signs in and keeps them.',
    '24',
    wholeNumber(1, 24 * 365),
  ),
  TRELLIS_PROVISIONAL_MAX_REPOS: defaulted(
    'Repositories in the organization of an unclaimed agent or an anonymous caller.',
    '20',
    wholeNumber(1),
  ),
  TRELLIS_PROVISIONAL_MAX_BYTES: defaulted(
    'All repositories of such an organization together.',
    String(GB),
    wholeNumber(1024),
  ),
  TRELLIS_ADDRESS_MAX_AGENTS: defaulted(
    'Agents that may register from one address in a day (not for loopback).',
    '60',
    wholeNumber(0),
  ),
  TRELLIS_ADDRESS_MAX_ANONYMOUS_REPOS: defaulted(
    'Live repositories of anonymous callers at one address (not for loopback).',
    '100',
    wholeNumber(0),
  ),
  TRELLIS_REPO_MAX_WEBHOOKS: defaulted(
    'Webhooks of a repository, beside those that it declares itself.',
    '250',
    wholeNumber(1),
  ),
  TRELLIS_REPO_MAX_TOKENS: defaulted(
    'Tokens of a repository that work at the same time, clones taken from invites among them.',
    '10000',
    wholeNumber(1, 100_000),
  ),
  TRELLIS_CALLER_MAX_INVITES: defaulted(
    'Invites of one person, agent or anonymous caller that work at the same time.',
    '10000',
    wholeNumber(1, 100_000),
  ),
  TRELLIS_REPO_MAX_SECRETS: defaulted(
    'Secrets of a repository that its extensions may be given.',
    '100',
    wholeNumber(0, 10_000),
  ),
  TRELLIS_RECORD_MAX_ROWS: defaulted(
    'Rows of a record collection. What they take counts against the bytes of the organization.',
    '1000000',
    wholeNumber(1),
  ),
  TRELLIS_WEBHOOK_MAX_PENDING_BYTES: defaulted(
    'What may be pending for a webhook: bodies, and 512 bytes for each delivery. Beyond it, deliveries are dropped.',
    String(8 * MB),
    wholeNumber(1024),
  ),
  TRELLIS_USER_MAX_ORGS: defaulted('Organizations a person may own.', '100', wholeNumber(1)),
  TRELLIS_USER_MAX_KEYS: defaulted('API keys a person may have in an organization.', '100', wholeNumber(1)),
} satisfies Record<string, Setting>

type Settings = typeof settings
type Values = {
  [K in keyof Settings]: Settings[K] extends { fallback: string }
    ? z.output<Settings[K]['schema']>
    : z.output<Settings[K]['schema']> | undefined
}

export type Config = ReturnType<typeof arrange>

/** A configuration that cannot be used, with everything that is wrong with it. */
class ConfigError extends StartError {
  constructor(problems: string[]) {
    super(['The configuration has problems:', ...problems.map((problem) => `  - ${problem}`)].join('\n'))
  }
}

export function parseConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, { schema, fallback }] of Object.entries(settings) as [string, Setting][]) {
    // An empty variable is how one says "not set" in many places.
    const given = env[name] || fallback
    if (given === undefined) continue
    const parsed = schema.safeParse(given)
    if (parsed.success) values[name] = parsed.data
    else problems.push(`${name} ${parsed.error.issues.map((issue) => issue.message).join('; ')}`)
  }
  for (const name of Object.keys(env))
    if (name.startsWith('TRELLIS_') && !(name in settings))
      problems.push(`${name} is not a setting of Trellis`)
  problems.push(
    ...together(env, ['TRELLIS_GITHUB_CLIENT_ID', 'TRELLIS_GITHUB_CLIENT_SECRET']),
    ...together(env, ['TRELLIS_OIDC_ISSUER', 'TRELLIS_OIDC_CLIENT_ID', 'TRELLIS_OIDC_CLIENT_SECRET']),
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return arrange(values as Values)
}

/** The settings in the shape their readers want. */
function arrange(v: Values) {
  const both = <A, B>(a: A | undefined, b: B | undefined) => (a && b ? ([a, b] as const) : undefined)
  const github = both(v.TRELLIS_GITHUB_CLIENT_ID, v.TRELLIS_GITHUB_CLIENT_SECRET)
  const oidc = both(v.TRELLIS_OIDC_CLIENT_ID, v.TRELLIS_OIDC_CLIENT_SECRET)
  return {
    listen: v.TRELLIS_LISTEN,
    baseUrl: v.TRELLIS_BASE_URL,
    data: v.TRELLIS_DATA,
    database: {
      url: v.TRELLIS_DATABASE_URL,
      poolSize: v.TRELLIS_DATABASE_POOL,
      waitMs: v.TRELLIS_DATABASE_WAIT_SECONDS * 1000,
    },
    secret: v.TRELLIS_SECRET,
    owner: {
      email: v.TRELLIS_OWNER_EMAIL.toLowerCase(),
      key: v.TRELLIS_OWNER_KEY,
      password: v.TRELLIS_OWNER_PASSWORD,
    },
    mail: { smtpUrl: v.TRELLIS_SMTP_URL, from: v.TRELLIS_MAIL_FROM },
    signUp: v.TRELLIS_SIGN_UP,
    anonymous: v.TRELLIS_ANONYMOUS === 'on',
    providers: {
      github: github && { url: v.TRELLIS_GITHUB_URL, clientId: github[0], clientSecret: github[1] },
      oidc:
        v.TRELLIS_OIDC_ISSUER && oidc
          ? {
              issuer: v.TRELLIS_OIDC_ISSUER,
              name: v.TRELLIS_OIDC_NAME,
              clientId: oidc[0],
              clientSecret: oidc[1],
            }
          : undefined,
    },
    trustedProxies: v.TRELLIS_TRUSTED_PROXIES,
    corsOrigins: v.TRELLIS_CORS_ORIGINS,
    egressAllow: v.TRELLIS_EGRESS_ALLOW,
    authorities: v.TRELLIS_CA_FILE,
    metricsToken: v.TRELLIS_METRICS_TOKEN,
    logLevel: v.TRELLIS_LOG_LEVEL,
    git: {
      processes: v.TRELLIS_GIT_PROCESSES,
      cloneCacheBytes: v.TRELLIS_CLONE_CACHE_BYTES,
      objectMemoryBytes: v.TRELLIS_OBJECT_MEMORY_BYTES,
      unreachableMs: v.TRELLIS_UNREACHABLE_HOURS * 3_600_000,
    },
    webhooks: {
      enabled: v.TRELLIS_WEBHOOKS === 'on',
      retryMs: v.TRELLIS_WEBHOOK_RETRY_SECONDS.map((seconds) => seconds * 1000),
      timeoutMs: v.TRELLIS_WEBHOOK_TIMEOUT_SECONDS * 1000,
      concurrency: v.TRELLIS_WEBHOOK_CONCURRENCY,
      leaseMs: v.TRELLIS_WEBHOOK_LEASE_SECONDS * 1000,
      retentionMs: v.TRELLIS_WEBHOOK_RETENTION_DAYS * 86_400_000,
    },
    extensions: {
      enabled: v.TRELLIS_EXTENSIONS === 'on',
      sandbox: v.TRELLIS_SANDBOX === 'on',
      bundleCacheBytes: v.TRELLIS_BUNDLE_CACHE_BYTES,
    },
    records: { enabled: v.TRELLIS_RECORDS === 'on' },
    runs: {
      timeoutMs: v.TRELLIS_RUN_TIMEOUT_SECONDS * 1000,
      memoryMb: v.TRELLIS_RUN_MEMORY_MB,
      logBytes: v.TRELLIS_RUN_LOG_BYTES,
      concurrency: v.TRELLIS_RUN_CONCURRENCY,
      leaseMs: v.TRELLIS_RUN_LEASE_SECONDS * 1000,
      retentionMs: v.TRELLIS_RUN_RETENTION_DAYS * 86_400_000,
      perOrg: v.TRELLIS_ORG_MAX_RUNNING,
      queuedPerOrg: v.TRELLIS_ORG_MAX_QUEUED,
      keptBytesPerOrg: v.TRELLIS_ORG_MAX_RUN_BYTES,
    },
    sandbox: {
      timeoutMs: v.TRELLIS_SANDBOX_TIMEOUT_SECONDS * 1000,
      memoryMb: v.TRELLIS_SANDBOX_MEMORY_MB,
      diskMb: v.TRELLIS_SANDBOX_DISK_MB,
      processes: v.TRELLIS_SANDBOX_PROCESSES,
      concurrency: v.TRELLIS_SANDBOX_CONCURRENCY,
      perOrg: v.TRELLIS_ORG_MAX_SANDBOXED,
      treeBytes: v.TRELLIS_SANDBOX_TREE_BYTES,
    },
    shutdownMs: v.TRELLIS_SHUTDOWN_SECONDS * 1000,
    connections: {
      total: v.TRELLIS_MAX_CONNECTIONS,
      perAddress: v.TRELLIS_ADDRESS_MAX_CONNECTIONS,
      bodyBytesPerSecond: v.TRELLIS_BODY_MIN_BYTES_PER_SECOND,
    },
    limits: {
      requestsPerSecond: v.TRELLIS_RATE_PER_SECOND,
      requestBurst: v.TRELLIS_RATE_BURST,
      bodyBytes: v.TRELLIS_MAX_BODY_BYTES,
      commitBodyBytes: v.TRELLIS_COMMIT_MAX_BYTES,
      pushBytes: v.TRELLIS_PUSH_MAX_BYTES,
      refsPerPush: v.TRELLIS_PUSH_MAX_REFS,
      refsPerRepo: v.TRELLIS_REPO_MAX_REFS,
      repoBytes: v.TRELLIS_REPO_MAX_BYTES,
      orgBytes: v.TRELLIS_ORG_MAX_BYTES,
      reposPerOrg: v.TRELLIS_ORG_MAX_REPOS,
      orgsPerUser: v.TRELLIS_USER_MAX_ORGS,
      provisionalMs: v.TRELLIS_PROVISIONAL_HOURS * 60 * 60 * 1000,
      provisionalRepos: v.TRELLIS_PROVISIONAL_MAX_REPOS,
      provisionalBytes: v.TRELLIS_PROVISIONAL_MAX_BYTES,
      registrationsPerAddress: v.TRELLIS_ADDRESS_MAX_AGENTS,
      anonymousReposPerAddress: v.TRELLIS_ADDRESS_MAX_ANONYMOUS_REPOS,
      keysPerUser: v.TRELLIS_USER_MAX_KEYS,
      webhooksPerRepo: v.TRELLIS_REPO_MAX_WEBHOOKS,
      tokensPerRepo: v.TRELLIS_REPO_MAX_TOKENS,
      invitesPerCaller: v.TRELLIS_CALLER_MAX_INVITES,
      secretsPerRepo: v.TRELLIS_REPO_MAX_SECRETS,
      rowsPerRecord: v.TRELLIS_RECORD_MAX_ROWS,
      daemonsPerOrg: v.TRELLIS_ORG_MAX_DAEMONS,
      tails: v.TRELLIS_MAX_TAILS,
      tailsPerCaller: v.TRELLIS_CALLER_MAX_TAILS,
      pendingBytesPerWebhook: v.TRELLIS_WEBHOOK_MAX_PENDING_BYTES,
    },
  }
}

/** Settings that are of no use without each other. */
function together(env: Record<string, string | undefined>, names: (keyof Settings)[]): string[] {
  const missing = names.filter((name) => !env[name])
  if (missing.length === 0 || missing.length === names.length) return []
  return [
    `${missing.join(' and ')} must be set too, beside ${names.filter((name) => env[name]).join(' and ')}`,
  ]
}
