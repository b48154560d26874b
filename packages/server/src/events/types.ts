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
  | `daemon.${'woken' | 'quarantined' | 'resumed'}`
  | `run.${'queued' | 'started' | 'log' | 'succeeded' | 'failed' | 'cancelled' | 'rejected'}`

/** The first words of all types above, and of those that are still to come. */
const RESERVED = new Set([
  'repo',
  'git',
  'token',
  'key',
  'org',
  'member',
  'invitation',
  'invite',
  'agent',
  'webhook',
  'record',
  'extension',
  'run',
  'daemon',
])

declare const emitted: unique symbol
/** A type that an extension may emit. */
export type EmittedType = string & { [emitted]: true }

/** Undefined for a type of the service's own. */
export const parseEmittedType = (type: string): EmittedType | undefined =>
  RESERVED.has(type.split('.')[0] ?? '') ? undefined : (type as EmittedType)

/** Whose log an event belongs to. */
export type EventScope = `repo:${string}` | `org:${string}` | `run:${string}`

export const repoScope = (repoId: string): EventScope => `repo:${repoId}`
export const repoIdOf = (scope: EventScope): string | undefined =>
  scope.startsWith('repo:') ? scope.slice('repo:'.length) : undefined
export const runScope = (runId: string): EventScope => `run:${runId}`
export const orgScope = (orgId: string): EventScope => `org:${orgId}`
