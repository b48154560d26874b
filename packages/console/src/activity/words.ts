import type { LogEvent } from '@trellis/contract'

/** What an event says, for those types that people meet often; others say their type. */
const WORDS: Record<string, (subject: string) => string> = {
  'repo.created': (name) => `Created repository ${name}`,
  'repo.deleted': (name) => `Deleted repository ${name}`,
  'repo.renamed': (name) => `Renamed repository ${name}`,
  'repo.updated': (name) => `Changed repository ${name}`,
  'git.push': (ref) => `Pushed to ${shortRef(ref)}`,
  'org.created': (slug) => `Created organization ${slug}`,
  'org.updated': (slug) => `Changed organization ${slug}`,
  'member.added': () => 'Added a member',
  'member.removed': () => 'Removed a member',
  'key.created': () => 'Made a key',
  'key.revoked': () => 'Revoked a key',
}

export function inWords({ type, subject = '' }: LogEvent): string {
  return WORDS[type]?.(subject) ?? (subject ? `${type} ${shortRef(subject)}` : type)
}

/** A ref as people say it. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, '')

export const actorName = (actor: LogEvent['actor']): string =>
  'name' in actor && actor.name
    ? String(actor.name)
    : actor.kind === 'system'
      ? 'the server'
      : `${actor.kind} ${actor.id}`
