import * as z from 'zod'
import { Counter, ExtensionName, Hash, StringList } from './names.ts'

const UnixMs = z.int().describe('Unix milliseconds.')

export const Daemon = z.object({
  name: ExtensionName,
  canonicalSha: z.string().min(1).describe('The canonical commit it comes from.'),
  moduleHash: Hash,
  descriptorHash: Hash,
  scheduleIntervalMinutes: z.int().min(5),
  capabilities: StringList.default([]),
  onEventTypes: StringList.nullable().describe('Events that wake it as well; null for none.'),
  status: z.enum(['active', 'quarantined']),
  failures: Counter.describe('Wakes in a row that failed.'),
  quarantinedUntil: UnixMs.nullable(),
  nextWakeAt: UnixMs.nullable(),
  lastRun: z
    .object({
      id: z.string().min(1),
      status: z.enum(['succeeded', 'failed', 'cancelled']),
      endedAt: Counter.describe('Unix milliseconds.'),
    })
    .nullable(),
  lastWakeAt: UnixMs.nullable(),
  lastWakeOutcome: z
    .string()
    .nullable()
    .meta({ examples: ['dispatched', 'succeeded', 'failed', 'skipped_running'] }),
  lastWakeDetail: z.string().nullable(),
  lastConsumerSeenAt: UnixMs.nullable(),
  lastConsumerDetail: z.string().nullable(),
  pendingEventCount: Counter.describe('Events that wait for the next wake.'),
})
export type Daemon = z.infer<typeof Daemon>
