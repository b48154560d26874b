import * as z from 'zod'
import { Counter, ExtensionName, Hash, RepoName, StringList } from './names.ts'
import { operation, unready } from './operation.ts'
import { listOf } from './paging.ts'

export const Daemon = z.object({
  name: ExtensionName,
  canonicalSha: z.string().min(1),
  moduleHash: Hash,
  descriptorHash: Hash,
  scheduleIntervalMinutes: z.int().min(5),
  capabilities: StringList.default([]),
  onEventTypes: StringList.nullable(),
  status: z.enum(['active', 'quarantined']),
  failures: Counter,
  quarantinedUntil: z.int().nullable(),
  nextWakeAt: z.int().nullable(),
  lastRun: z
    .object({
      id: z.string().min(1),
      status: z.enum(['succeeded', 'failed', 'cancelled']),
      endedAt: Counter,
    })
    .nullable(),
  lastWakeAt: z.int().nullable(),
  lastWakeOutcome: z.string().nullable(),
  lastWakeDetail: z.string().nullable(),
  lastConsumerSeenAt: z.int().nullable(),
  lastConsumerDetail: z.string().nullable(),
  pendingEventCount: Counter,
})
export type Daemon = z.infer<typeof Daemon>

export const daemons = {
  list: operation('/daemons/list', {
    summary: 'List the daemons of the canonical commit',
    tag: 'Daemons',
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE', ...unready],
  })
    .input(z.object({ name: RepoName }))
    .output(listOf(Daemon)),
}
