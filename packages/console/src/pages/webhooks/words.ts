import type { NumberedEvent, Subscription, Webhook, WebhookDelivery } from '@trellis/contract'
import type { StatusKind } from '../../ui/Status.tsx'

/** What a webhook hears of, in a sentence. */
export function subscriptionInWords({ push, event }: Subscription): string {
  if (!push && !event) return 'Every event of the repository'
  return [push && pushesInWords(push), event && eventsInWords(event)].filter(Boolean).join('; ')
}

function pushesInWords({ branches = [], paths = [] }: NonNullable<Subscription['push']>): string {
  const to = branches.length > 0 ? `Pushes to ${branches.join(', ')}` : 'Pushes'
  return paths.length > 0 ? `${to} that change ${paths.join(', ')}` : to
}

function eventsInWords({ types, subject, from }: NonNullable<Subscription['event']>): string {
  return [types.join(', '), subject && `about ${subject}`, from && `from ${from}`].filter(Boolean).join(' ')
}

export const OUTCOMES: Record<WebhookDelivery['status'], { kind: StatusKind; word: string }> = {
  success: { kind: 'succeeded', word: 'delivered' },
  failed: { kind: 'failed', word: 'failed' },
  pending: { kind: 'queued', word: 'pending' },
  dropped: { kind: 'cancelled', word: 'dropped' },
}

/** What came of a delivery: the answer, or why there was none. */
export function answerInWords(delivery: WebhookDelivery & { error: string | null }): string {
  const { status, responseStatus, error, attempt } = delivery
  if (responseStatus !== null) return `answered ${responseStatus}`
  if (error) return error
  return status === 'pending' && attempt === 0 ? 'waits for its first attempt' : 'no answer'
}

const WHY: Record<string, string> = {
  requested: 'Somebody disabled it.',
  failing: 'Its receiver had not answered with 2xx for five days.',
  gone: 'Its receiver answered 410: nobody is there any more.',
}

/** Why each webhook that was disabled lately was, by name. */
export function reasonsIn(events: readonly NumberedEvent[]): Map<string, string> {
  const reasons = new Map<string, string>()
  for (const { subject = '', payload } of events) {
    const { reason = '' } = (payload ?? {}) as { reason?: string }
    // The newest comes first.
    if (!reasons.has(subject)) reasons.set(subject, WHY[reason] ?? '')
  }
  return reasons
}

export function stateOf({ active, status }: Webhook): { kind: StatusKind; word: string } {
  if (status === 'orphaned') return { kind: 'quarantined', word: 'orphaned' }
  return active ? { kind: 'active', word: 'active' } : { kind: 'off', word: 'disabled' }
}
