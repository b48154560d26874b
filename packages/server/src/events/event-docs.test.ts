import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import type { ServiceEventType } from './types.ts'

/** The type checker sees to it that none is missing. */
const TYPES: Record<ServiceEventType, true> = {
  'repo.created': true,
  'repo.updated': true,
  'repo.deleted': true,
  'repo.imported': true,
  'repo.import.progress': true,
  'repo.forked': true,
  'repo.purged': true,
  'repo.rules.changed': true,
  'git.push': true,
  'git.branch.created': true,
  'git.branch.deleted': true,
  'git.tag.created': true,
  'git.tag.deleted': true,
  'token.created': true,
  'token.revoked': true,
  'key.created': true,
  'key.updated': true,
  'key.revoked': true,
  'org.created': true,
  'org.updated': true,
  'org.deleted': true,
  'member.added': true,
  'member.role.changed': true,
  'member.removed': true,
  'invitation.created': true,
  'invitation.cancelled': true,
  'invite.created': true,
  'invite.revealed': true,
  'invite.revoked': true,
  'agent.registered': true,
  'agent.claimed': true,
  'agent.revoked': true,
  'webhook.created': true,
  'webhook.updated': true,
  'webhook.enabled': true,
  'webhook.disabled': true,
  'webhook.orphaned': true,
  'webhook.deleted': true,
  'webhook.secret.rotated': true,
  'record.created': true,
  'record.updated': true,
  'record.transitioned': true,
  'record.deleted': true,
  'extension.promoted': true,
  'daemon.woken': true,
  'daemon.quarantined': true,
  'daemon.resumed': true,
  'run.queued': true,
  'run.started': true,
  'run.log': true,
  'run.succeeded': true,
  'run.failed': true,
  'run.cancelled': true,
  'run.rejected': true,
}

it('the page about events has every type that is written, once, and no other', () => {
  const page = readFileSync(new URL('../../../../docs/events.md', import.meta.url), 'utf8')
  const cells = page.split('\n').flatMap((line) => /^\| (`[^|]+`) \|/.exec(line)?.[1] ?? [])
  const told = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, type]) => type))
  assert.deepEqual(told.toSorted(), Object.keys(TYPES).toSorted())
})
