import type { Config } from '../../platform/config.ts'

export type Limits = Config['limits'] &
  Pick<Config, 'connections' | 'runs' | 'sandbox'> & {
    /** What is no setting, by what it is about. */
    bounds: Readonly<Record<string, Readonly<Record<string, number>>>>
  }

/** The limits in force, for machines: what, how much, of which unit. */
export function presentLimits({ connections, runs, sandbox, bounds, ...limits }: Limits) {
  return {
    ...bounds,
    connections: {
      perProcess: connections.total,
      perAddress: connections.perAddress,
      leastBodyBytesPerSecond: connections.bodyBytesPerSecond,
    },
    tails: {
      perProcess: limits.tails,
      perOrganization: Math.ceil(limits.tails / 2),
      perCaller: limits.tailsPerCaller,
    },
    requests: {
      perCredential: { perSecond: limits.requestsPerSecond, burst: limits.requestBurst },
      perAddress: { perSecond: limits.requestsPerSecond, burst: limits.requestBurst, exempt: ['loopback'] },
    },
    body: { jsonBytes: limits.bodyBytes, commitBytes: limits.commitBodyBytes, pushBytes: limits.pushBytes },
    push: { refs: limits.refsPerPush },
    repository: {
      bytes: limits.repoBytes,
      refs: limits.refsPerRepo,
      webhooks: limits.webhooksPerRepo,
      secrets: limits.secretsPerRepo,
      tokens: limits.tokensPerRepo,
    },
    record: { rows: limits.rowsPerRecord },
    webhook: { pendingBytes: limits.pendingBytesPerWebhook },
    run: {
      ...bounds.run,
      seconds: runs.timeoutMs / 1000,
      memoryMb: runs.memoryMb,
      logBytes: runs.logBytes,
      keptDays: runs.retentionMs / 86_400_000,
    },
    sandbox: {
      seconds: sandbox.timeoutMs / 1000,
      memoryMb: sandbox.memoryMb,
      diskMb: sandbox.diskMb,
      processes: sandbox.processes,
      treeBytes: sandbox.treeBytes,
    },
    organization: {
      repositories: limits.reposPerOrg,
      bytes: limits.orgBytes,
      runsAtOnce: runs.perOrg,
      sandboxesAtOnce: sandbox.perOrg,
      runsQueued: runs.queuedPerOrg,
      runsUnended: runs.unendedPerOrg,
      runBytes: runs.keptBytesPerOrg,
      daemons: limits.daemonsPerOrg,
    },
    provisional: {
      seconds: limits.provisionalMs / 1000,
      repositories: limits.provisionalRepos,
      bytes: limits.provisionalBytes,
      agentsPerAddressAndDay: limits.registrationsPerAddress,
      repositoriesPerAddress: limits.anonymousReposPerAddress,
    },
    user: { ownedOrganizations: limits.orgsPerUser, keysPerOrganization: limits.keysPerUser },
    caller: { invites: limits.invitesPerCaller },
  }
}
