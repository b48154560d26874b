import * as z from 'zod'
import { defaulted, list, oneOf, wholeNumber } from './kinds.ts'

/** How webhooks are delivered. */
export const webhookSettings = {
  TRELLIS_WEBHOOKS: defaulted(
    'Whether there are webhooks. While they are `off`, events are delivered nowhere, and not later either.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_WEBHOOK_RETRY_SECONDS: defaulted(
    'Seconds, comma-separated, to wait after each attempt of a webhook delivery that failed. After the last one it has failed for good.',
    '5,300,1800,7200,18000,36000,36000',
    list.pipe(z.array(wholeNumber(0, 30 * 86_400)).max(50)),
  ),
  TRELLIS_WEBHOOK_TIMEOUT_SECONDS: defaulted(
    'How long the receiver of a webhook may take for a complete answer.',
    '15',
    wholeNumber(1, 300),
  ),
  TRELLIS_WEBHOOK_CONCURRENCY: defaulted(
    'Webhook deliveries this process may have in flight; with 0 it leaves them to others.',
    '64',
    wholeNumber(0, 10_000),
  ),
  TRELLIS_WEBHOOK_LEASE_SECONDS: defaulted(
    'How long a process may be silent before others take over its webhook deliveries; the same for every process over one database.',
    '15',
    wholeNumber(1, 3600),
  ),
  TRELLIS_WEBHOOK_RETENTION_DAYS: defaulted(
    'How long webhook deliveries that ended are kept.',
    '30',
    wholeNumber(1, 36_500),
  ),
}
