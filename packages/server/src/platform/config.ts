import type * as z from 'zod'
import { extensionSettings } from './settings/extensions.ts'
import type { Setting } from './settings/kinds.ts'
import { limitSettings } from './settings/limits.ts'
import { networkSettings } from './settings/network.ts'
import { operationSettings } from './settings/operation.ts'
import { peopleSettings } from './settings/people.ts'
import { serverSettings } from './settings/server.ts'
import { webhookSettings } from './settings/webhooks.ts'
import { StartError } from './start-error.ts'

/** Every setting there is, by its name in the environment. `docs/configuration.md` is made from this. */
export const settings = {
  ...serverSettings,
  ...peopleSettings,
  ...networkSettings,
  ...webhookSettings,
  ...extensionSettings,
  ...operationSettings,
  ...limitSettings,
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
      unendedPerOrg: v.TRELLIS_ORG_MAX_UNENDED,
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
