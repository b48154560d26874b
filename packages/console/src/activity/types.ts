/** The events a repository's log can hold, by what they are about. Extensions add types of their own. */
export const REPO_EVENTS: readonly { about: string; types: readonly string[] }[] = [
  {
    about: 'git',
    types: ['git.push', 'git.branch.created', 'git.branch.deleted', 'git.tag.created', 'git.tag.deleted'],
  },
  {
    about: 'run',
    types: ['run.queued', 'run.started', 'run.succeeded', 'run.failed', 'run.cancelled', 'run.rejected'],
  },
  { about: 'record', types: ['record.created', 'record.updated', 'record.transitioned', 'record.deleted'] },
  { about: 'extension', types: ['extension.promoted'] },
  { about: 'daemon', types: ['daemon.woken', 'daemon.quarantined', 'daemon.resumed'] },
  {
    about: 'repo',
    types: [
      'repo.created',
      'repo.updated',
      'repo.imported',
      'repo.forked',
      'repo.rules.changed',
      'repo.deleted',
    ],
  },
  {
    about: 'webhook',
    types: [
      'webhook.created',
      'webhook.updated',
      'webhook.enabled',
      'webhook.disabled',
      'webhook.orphaned',
      'webhook.deleted',
      'webhook.secret.rotated',
    ],
  },
  { about: 'token', types: ['token.created', 'token.revoked'] },
  { about: 'invite', types: ['invite.created', 'invite.revealed', 'invite.revoked'] },
]

/** The events of an organization's own log. */
export const ORG_EVENTS: readonly { about: string; types: readonly string[] }[] = [
  { about: 'org', types: ['org.created', 'org.updated'] },
  { about: 'member', types: ['member.added', 'member.role.changed', 'member.removed'] },
  { about: 'invitation', types: ['invitation.created', 'invitation.cancelled'] },
  { about: 'key', types: ['key.created', 'key.updated', 'key.revoked'] },
  { about: 'agent', types: ['agent.registered', 'agent.claimed', 'agent.revoked'] },
  { about: 'repo', types: ['repo.import.progress'] },
]
