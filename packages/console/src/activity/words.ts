import type { LogEvent } from '@trellis/contract'

type Payload = Record<string, unknown>
type Say = (subject: string, payload: Payload) => string

/** What an event says. Types that extensions emit say what they are. */
const WORDS: Record<string, Say> = {
  'repo.created': (name) => `Created repository ${name}`,
  'repo.deleted': (name) => `Deleted repository ${name}`,
  'repo.updated': (name, { previousName }) =>
    previousName && previousName !== name
      ? `Renamed repository ${previousName} to ${name}`
      : `Changed the settings of ${name}`,
  'repo.imported': (name, { source }) => `Imported ${name} from ${source}`,
  'repo.import.progress': (name, { phase, percent }) => `Importing ${name}: ${phase} ${percent} %`,
  'repo.forked': (to) => `Forked to ${to}`,
  'repo.purged': () => 'Removed objects that nothing leads to',
  'repo.rules.changed': () => 'Changed the rules for refs',
  'git.push': pushed,
  'git.branch.created': (name, payload) => `Created ${severalOr(payload, 'branch', name)}`,
  'git.branch.deleted': (name, payload) => `Deleted ${severalOr(payload, 'branch', name)}`,
  'git.tag.created': (name, payload) => `Created ${severalOr(payload, 'tag', name)}`,
  'git.tag.deleted': (name, payload) => `Deleted ${severalOr(payload, 'tag', name)}`,
  'run.queued': (_, { extension, trigger }) => `Queued a run of ${extension}${because(trigger)}`,
  'run.started': (_, { extension }) => `Started a run of ${extension}`,
  'run.succeeded': (_, { extension }) => `A run of ${extension} succeeded`,
  'run.failed': (_, { extension, error }) =>
    `A run of ${extension} failed${error ? `: ${firstLine(error)}` : ''}`,
  'run.cancelled': (_, { extension }) => `A run of ${extension} was cancelled`,
  'run.rejected': (_, { extension, reason }) => `A run of ${extension} was rejected: ${reason}`,
  'record.created': (_, { record, row }) => `Added a ${record}${called(row)}`,
  'record.updated': (_, { record, row, changed }) =>
    `Changed ${listed(changed) || 'nothing'} of a ${record}${called(row)}`,
  'record.transitioned': (_, { record, row, transitions }) =>
    `Moved a ${record}${called(row)} ${moves(transitions)}`,
  'record.deleted': (_, { record, row }) => `Deleted a ${record}${called(row)}`,
  'extension.promoted': (_, { after, changes }) =>
    `Promoted ${shortOid(after)}${Array.isArray(changes) && changes.length > 0 ? `: ${changes.length} changed` : ''}`,
  'daemon.woken': (name, { reason }) => `Woke daemon ${name}${reason === 'manual' ? '' : because(reason)}`,
  'daemon.quarantined': (name, { failures }) => `Quarantined daemon ${name} after ${failures} failures`,
  'daemon.resumed': (name) => `Resumed daemon ${name}`,
  'webhook.created': (name) => `Created webhook ${name}`,
  'webhook.updated': (name) => `Changed webhook ${name}`,
  'webhook.enabled': (name) => `Enabled webhook ${name}`,
  'webhook.disabled': (name, { reason }) => `Disabled webhook ${name}${DISABLED[String(reason)] ?? ''}`,
  'webhook.orphaned': (name) => `Webhook ${name} is no longer declared`,
  'webhook.deleted': (name) => `Deleted webhook ${name}`,
  'webhook.secret.rotated': (name) => `Rotated the secret of webhook ${name}`,
  'token.created': (_, { scope }) => `Made a token${scope ? ` to ${scope}` : ''}`,
  'token.revoked': () => 'Revoked a token',
  'invite.created': (_, { scope }) => `Made an invite${scope ? ` to ${scope}` : ''}`,
  'invite.revealed': () => 'Opened an invite',
  'invite.revoked': () => 'Revoked an invite',
  'key.created': (_, { name }) => `Made the key ${name}`,
  'key.updated': (_, { name }) => `Changed the key ${name}`,
  'key.revoked': (_, { name }) => `Revoked the key ${name}`,
  'org.created': (slug) => `Created organization ${slug}`,
  'org.updated': (slug, { frozen }) => `Changed organization ${slug}${frozen ? ', which is frozen' : ''}`,
  'org.deleted': (slug) => `Deleted organization ${slug}`,
  'member.added': (who, { role }) => `Added ${who}${role ? ` as ${role}` : ''}`,
  'member.role.changed': (who, { from, to }) => `Changed the role of ${who} from ${from} to ${to}`,
  'member.removed': (who) => `Removed ${who}`,
  'invitation.created': (email, { role }) => `Invited ${email}${role ? ` as ${role}` : ''}`,
  'invitation.cancelled': (email) => `Took the invitation of ${email} back`,
  'agent.registered': (_, { name }) => `Registered agent${name ? ` ${name}` : ''}`,
  'agent.claimed': (_, { name }) => `Claimed agent${name ? ` ${name}` : ''}`,
  'agent.revoked': (_, { name }) => `Revoked agent${name ? ` ${name}` : ''}`,
}

const DISABLED: Record<string, string> = {
  failing: ': its receiver had not answered for five days',
  gone: ': its receiver answered 410',
}

const TRIGGERS: Record<string, string> = {
  push: ' after a push',
  event: ' after an event',
  events: ' after events',
  record: ' for a row',
  daemon: ' by its daemon',
  schedule: ' on schedule',
}

/** An event in a sentence. Of members it has the id alone: `nameOf` knows what they are called. */
export function inWords(
  { type, subject = '', payload }: LogEvent,
  nameOf?: (actor: LogEvent['actor']) => string,
): string {
  const told = typeof payload === 'object' && payload !== null ? (payload as Payload) : {}
  const about = type.startsWith('member.') ? memberName(subject, nameOf) : subject
  return WORDS[type]?.(about, told) ?? (subject ? `${type} ${shortRef(subject)}` : type)
}

const memberName = (id: string, nameOf = actorName): string => {
  const name = nameOf({ kind: 'user', id })
  return name === actorName({ kind: 'user', id }) ? 'a member' : name
}

function pushed(subject: string, { refs, created, deleted, forced, commitCount }: Payload): string {
  if (Array.isArray(refs)) return `Pushed ${refs.length} refs`
  const ref = shortRef(subject)
  if (deleted) return `Deleted ${ref}`
  if (created) return `Pushed ${ref} for the first time`
  const commits =
    typeof commitCount === 'number' ? `${commitCount} ${commitCount === 1 ? 'commit' : 'commits'} ` : ''
  return `${forced ? 'Force-pushed' : 'Pushed'} ${commits}to ${ref}`
}

const severalOr = ({ refs }: Payload, kind: string, name: string): string =>
  Array.isArray(refs) ? `${refs.length} ${kind === 'branch' ? 'branches' : 'tags'}` : `${kind} ${name}`

const because = (trigger: unknown): string => TRIGGERS[String(trigger)] ?? ''
const firstLine = (text: unknown): string => String(text).split('\n', 1)[0] ?? ''
const listed = (names: unknown): string => (Array.isArray(names) ? names.join(', ') : '')
const shortOid = (oid: unknown): string => String(oid).slice(0, 7)

/** What a row is called: its first text that is short. */
function called(row: unknown): string {
  const { data } = (row ?? {}) as { data?: Payload }
  const title = Object.values(data ?? {}).find((value) => typeof value === 'string' && value.length > 0)
  return typeof title === 'string' ? ` “${title.length > 60 ? `${title.slice(0, 60)}…` : title}”` : ''
}

const moves = (transitions: unknown): string =>
  Array.isArray(transitions)
    ? transitions
        .map(({ field, from, to }: Payload) => `${field} from ${from ?? 'nothing'} to ${to}`)
        .join(', ')
    : ''

/** A ref as people say it. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, '')

export const actorName = (actor: LogEvent['actor']): string =>
  'name' in actor && actor.name
    ? String(actor.name)
    : actor.kind === 'system'
      ? 'the server'
      : `${actor.kind} ${actor.id}`
