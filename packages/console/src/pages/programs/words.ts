import type { ExtensionDetail, Run, Subscription } from '@trellis/contract'
import { shortRef } from '../../activity/words.ts'

/** What runs are given, as far as it says why they are there. */
interface Told {
  type?: unknown
  subject?: unknown
  hook?: unknown
  record?: unknown
  reason?: unknown
  events?: unknown
}

const told = ({ input }: Pick<Run, 'input'>): Told =>
  typeof input === 'object' && input !== null ? (input as Told) : {}

/** The type of the event that set a run off, as far as the run itself knows; undefined when somebody asked for it. */
export function causeType(run: Pick<Run, 'trigger' | 'input'>): string | undefined {
  const { type, hook } = told(run)
  if (run.trigger === 'push') return 'git.push'
  if (run.trigger === 'event') return typeof type === 'string' ? type : 'event'
  if (run.trigger === 'record') return hook === 'transition' ? 'record.transitioned' : 'record.created'
  return undefined
}

/** Why a run is there, in a few words. */
export function causeWords(run: Run): string {
  const { subject, record, reason, events } = told(run)
  switch (run.trigger) {
    case 'push':
      return `push to ${shortRef(run.ref)}`
    case 'event':
      return [causeType(run), typeof subject === 'string' ? subject : undefined].filter(Boolean).join(' ')
    case 'record':
      return `${String(record)} ${causeType(run) === 'record.created' ? 'created' : 'moved on'}`
    case 'daemon':
      return reason === 'events' && Array.isArray(events)
        ? `${events.length} ${events.length === 1 ? 'event' : 'events'}`
        : reason === 'manual'
          ? 'woken by hand'
          : 'schedule'
    case 'dispatch':
      return run.causationDepth ? 'another run' : 'asked for'
  }
}

/** What starts an extension by itself: `pushes to main`, `task.escalated`. */
export function triggerWords(on: Subscription): string[] {
  const words: string[] = []
  if (on.push) {
    const { branches, paths } = on.push
    const where = branches?.length ? ` to ${branches.join(', ')}` : ''
    words.push(`push${where}${paths?.length ? ` in ${paths.join(', ')}` : ''}`)
  }
  if (on.event) {
    const { types, subject, from } = on.event
    words.push(`${types.join(', ')}${subject ? ` about ${subject}` : ''}${from ? ` from ${from}` : ''}`)
  }
  return words
}

/** How often a daemon wakes by itself, as its descriptor says; undefined for what is none. */
export function daemonMinutes({ source }: ExtensionDetail): number | undefined {
  const { daemon } = (source.descriptor ?? {}) as { daemon?: { scheduleIntervalMinutes?: number } }
  return daemon?.scheduleIntervalMinutes
}

/** 5 → `every 5 min`, 120 → `every 2 h`. */
export const everyWords = (minutes: number): string =>
  minutes % 60 === 0 ? `every ${minutes === 60 ? 'hour' : `${minutes / 60} h`}` : `every ${minutes} min`

const CAPABILITIES: Record<string, string> = {
  'repo:read': 'reads files, branches and history of this repository',
  'repo:write': 'commits, merges, makes and deletes branches and tags',
  'records:read': 'reads records',
  'records:write': 'makes, changes and deletes records',
  'events:emit': 'emits events, which others may listen to',
  'runs:dispatch': 'runs other extensions',
}

/** What a capability lets an extension do. */
export function capabilityWords(capability: string): string {
  const known = CAPABILITIES[capability]
  if (known) return known
  if (capability.startsWith('net:')) return `sends requests to ${capability.slice('net:'.length)}`
  if (capability.startsWith('secret:')) return `is given the secret ${capability.slice('secret:'.length)}`
  return 'is known to this server alone'
}

/** Why a run was refused, and what to do. */
export function rejectionWords(reason: string): string {
  const [word = '', detail] = reason.split(/:\s*(.*)/s)
  const known: Record<string, string> = {
    not_dispatchable:
      'Its descriptor does not say "dispatch": true, or this server does not run its runtime. Add it, push, and promote.',
    queue_full: 'Too many runs of the organization are waiting. Try again when some have ended.',
    depth_exceeded: 'Too many runs led to this one: what wakes each other ends here.',
    frozen: 'The repository is read-only, or its organization is frozen.',
    capability_missing: 'It was not granted what it needs. Promote the commit that asks for it.',
    quarantined: 'The daemon failed too often. Resume it first.',
  }
  return word === 'input_invalid' ? `The input does not fit: ${detail ?? ''}` : (known[word] ?? reason)
}
