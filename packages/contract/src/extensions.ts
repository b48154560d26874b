import * as z from 'zod'
import { Daemon } from './daemons.ts'
import { AnyJson, ExtensionName, Hash, JsonObject, RepoName, StringList } from './names.ts'
import { operation, unready } from './operation.ts'
import { RecordSchema } from './records.ts'
import { Subscription } from './subscriptions.ts'

export const Runtime = z.enum(['worker', 'sandbox', 'workflow'])
export type Runtime = z.infer<typeof Runtime>

const RepoPath = z.string().min(1)
const Ref = z.string().min(1)

export const ExtensionEntry = z.object({
  version: AnyJson,
  name: ExtensionName,
  description: z.string().max(512).optional(),
  path: RepoPath,
  modulePath: RepoPath,
  descriptorPath: RepoPath,
  moduleHash: Hash,
  descriptorHash: Hash,
  runtime: Runtime.default('worker'),
  capabilities: StringList.default([]),
  dispatch: z.boolean().default(false),
  inputSchema: JsonObject.optional(),
  outputSchema: JsonObject.optional(),
  record: RecordSchema.optional(),
  on: Subscription.default({}),
  bundlerVersion: z.string().min(1),
  commitSha: z.string().nullable(),
  dispatchable: z.boolean(),
  effectiveCapabilities: StringList,
  canonicalDescriptorHash: z.string().nullable(),
  canonicalGrantHash: z.string().nullable(),
  canonicalSchemaHash: z.string().nullable(),
  schemaAhead: z.boolean(),
  canonical: z.boolean(),
})
export type ExtensionEntry = z.infer<typeof ExtensionEntry>

export const MigrationPlanEntry = z.object({
  recordName: z.string(),
  kind: z.enum(['create', 'migrate', 'noop', 'blocked']),
  schemaHash: z.string(),
  steps: StringList,
  reasons: StringList.optional(),
})
export type MigrationPlanEntry = z.infer<typeof MigrationPlanEntry>

const tag = 'Extensions'
const atRef = z.object({ name: RepoName, ref: Ref.optional() })

export const extensions = {
  list: operation('/extensions/list', {
    summary: 'List the extensions at a ref, and what is wrong with the broken ones',
    tag,
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE', ...unready],
  })
    .input(atRef)
    .output(
      z.object({
        ref: z.string(),
        commitSha: z.string().nullable(),
        canonicalRef: z.string(),
        canonicalCommitSha: z.string().nullable(),
        items: z.array(ExtensionEntry),
        daemons: z.array(Daemon).default([]),
        errors: z.array(z.object({ path: z.string(), message: z.string() })),
      }),
    ),
  promote: operation('/extensions/promote', {
    summary: 'Make a commit canonical, migrating record schemas with it',
    tag,
    needs: 'repo:admin',
    errors: [
      'REPO_NOT_FOUND',
      'FEATURE_UNAVAILABLE',
      'RECORD_MIGRATION_BLOCKED',
      'EXTENSION_PROVENANCE',
      'EXTENSION_INVALID',
      'EXTENSION_BUILD_FAILED',
      'EXTENSION_NOT_FOUND',
      ...unready,
    ],
  })
    .input(atRef)
    .output(z.object({ ref: z.string(), oid: z.string(), migrations: z.array(MigrationPlanEntry) })),
}
