/** What the service itself emits. Extensions may emit other types, but none that begins with one of these words. */
export type ServiceEventType =
  | `repo.${'created' | 'updated' | 'deleted' | 'imported' | 'forked' | 'purged'}`
  | 'repo.import.progress'
  | 'repo.rules.changed'
  | 'git.push'
  | `git.${'branch' | 'tag'}.${'created' | 'deleted'}`
  | `token.${'created' | 'revoked'}`
  | `key.${'created' | 'updated' | 'revoked'}`
  | `org.${'created' | 'updated' | 'deleted'}`
  | `member.${'added' | 'role.changed' | 'removed'}`
  | `invitation.${'created' | 'cancelled'}`
  | `invite.${'created' | 'revealed' | 'revoked'}`
  | `agent.${'registered' | 'claimed' | 'revoked'}`
  | `webhook.${'created' | 'updated' | 'enabled' | 'disabled' | 'orphaned' | 'deleted'}`
  | 'webhook.secret.rotated'
  | `record.${'created' | 'updated' | 'transitioned' | 'deleted'}`
  | 'extension.promoted'

/** Whose log an event belongs to. */
export type EventScope = `repo:${string}` | `org:${string}`

export const repoScope = (repoId: string): EventScope => `repo:${repoId}`
export const repoIdOf = (scope: EventScope): string | undefined =>
  scope.startsWith('repo:') ? scope.slice('repo:'.length) : undefined
export const orgScope = (orgId: string): EventScope => `org:${orgId}`
