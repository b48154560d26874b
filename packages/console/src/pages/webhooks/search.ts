import type { WebhookDelivery } from '@trellis/contract'

const STATUSES: readonly unknown[] = ['pending', 'success', 'failed', 'dropped']

/** Which deliveries are looked at. */
export const searchOfDeliveries = ({
  status,
}: Record<string, unknown>): { status?: WebhookDelivery['status'] } =>
  STATUSES.includes(status) ? { status: status as WebhookDelivery['status'] } : {}
