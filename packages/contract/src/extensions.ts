import * as z from 'zod'
import { Daemon } from './daemon.ts'
import { AnyJson, Counter, ExtensionName, Hash, JsonObject, RepoName, Revision, StringList } from './names.ts'
import { atSomeRef, ofOneExtension, operation } from './operation.ts'
import { RecordSchema } from './records.ts'
import { Subscription } from './subscriptions.ts'

export const Runtime = z.enum(['worker', 'sandbox', 'workflow'])
export type Runtime = z.infer<typeof Runtime>

const RepoPath = z.string().min(1)
const NullableText = z.string().nullable()
const Capabilities = StringList.meta({ examples: [['repo:read', 'net:api.example.com']] })

export const ExtensionEntry = z.object({
  version: AnyJson.meta({ description: "The author's, any JSON.", examples: [1, '1.2.0'] }),
  name: ExtensionName,
  description: z.string().max(512).optional(),
  path: RepoPath.meta({ description: 'Its folder.', examples: ['extensions/triage'] }),
  modulePath: RepoPath.meta({ examples: ['extensions/triage/index.ts'] }),
  descriptorPath: RepoPath.meta({ examples: ['extensions/triage/extension.json'] }),
  moduleHash: Hash.describe('Of the built module.'),
  descriptorHash: Hash,
  runtime: Runtime.default('worker'),
  capabilities: Capabilities.default([]).describe('What the descriptor asks for.'),
  dispatch: z.boolean().default(false).describe('Whether it may be run on request.'),
  inputSchema: JsonObject.optional().describe('A JSON Schema that the input of a run must meet.'),
  outputSchema: JsonObject.optional().describe('A JSON Schema that the output of a run must meet.'),
  record: RecordSchema.optional(),
  on: Subscription.default({}),
  bundlerVersion: z.string().min(1),
  commitSha: z.string().nullable(),
  dispatchable: z.boolean().describe('It builds, may be run on request, and its runtime is enabled.'),
  effectiveCapabilities: Capabilities.describe(
    'What it asks for and was granted: the most a run here can do.',
  ),
  canonicalDescriptorHash: NullableText,
  canonicalGrantHash: NullableText.describe('Of the capabilities granted when it was promoted.'),
  canonicalSchemaHash: NullableText.describe('Of the record schema in force.'),
  schemaAhead: z.boolean().describe('The record schema here differs from the one in force.'),
  canonical: z.boolean().describe('Descriptor and module are the canonical ones.'),
})
export type ExtensionEntry = z.infer<typeof ExtensionEntry>

/** An extension with what only its own page needs. */
export const ExtensionDetail = ExtensionEntry.extend({
  source: z.object({
    descriptor: AnyJson.describe('The descriptor as it was written.'),
    bundleBytes: Counter.describe('What the built module takes.'),
  }),
})
export type ExtensionDetail = z.infer<typeof ExtensionDetail>

export const MigrationPlanEntry = z.object({
  recordName: z.string(),
  kind: z.enum(['create', 'migrate', 'noop', 'blocked']),
  schemaHash: z.string(),
  steps: StringList.meta({ description: 'In plain words.', examples: [['add field due']] }),
  reasons: StringList.optional().describe('Why it is blocked.'),
})
export type MigrationPlanEntry = z.infer<typeof MigrationPlanEntry>

const Change = z.enum(['added', 'changed', 'removed'])

/** What a promotion would do to one extension. What is left out stays as it is. */
export const PlannedChange = z.object({
  extension: ExtensionName,
  change: Change,
  module: z.literal(true).optional().describe('Other code would run.'),
  grants: z
    .object({ added: StringList, removed: StringList })
    .optional()
    .describe('What it may do then and may not do now, and the other way round.'),
  trigger: Change.optional().describe('What starts it by itself.'),
  on: Subscription.optional().describe('What that is then.'),
  daemon: Change.optional(),
  scheduleIntervalMinutes: z.int().optional().describe('How often the daemon is woken then.'),
})
export type PlannedChange = z.infer<typeof PlannedChange>

export const PromotionPlan = z.object({
  oid: z.string().describe('What would be canonical.'),
  before: NullableText.describe('What is. Null while nothing was promoted.'),
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .describe('What stands against it. With any of them the rest is empty.'),
  changes: z.array(PlannedChange),
  changesTruncated: z.boolean(),
  migrations: z.array(MigrationPlanEntry.extend({ rows: Counter.describe('How many there are of it now.') })),
  webhooks: z
    .object({ added: StringList, changed: StringList, removed: StringList })
    .describe('Those that the repository declares, by name.'),
})
export type PromotionPlan = z.infer<typeof PromotionPlan>

const tag = 'Extensions'
const atRef = z.object({
  name: RepoName,
  ref: Revision.optional().describe('The default branch when left out.'),
})

export const extensions = {
  list: operation('/extensions/list', {
    summary: 'List the extensions at a ref, and what is wrong with the broken ones',
    tag,
    needs: 'repo:read',
    errors: atSomeRef,
  })
    .input(atRef)
    .output(
      z.object({
        ref: z.string().meta({ examples: ['main'] }),
        commitSha: NullableText.describe('What the ref stood for; null in an empty repository.'),
        canonicalRef: z.string().meta({ examples: ['refs/trellis/canonical'] }),
        canonicalCommitSha: NullableText.describe('Null while nothing was promoted.'),
        items: z.array(ExtensionEntry),
        daemons: z.array(Daemon).default([]),
        errors: z
          .array(z.object({ path: z.string(), message: z.string() }))
          .describe('What is wrong with those that are broken and not listed.'),
      }),
    ),
  get: operation('/extensions/get', {
    summary: 'Show one extension at a ref, or what is wrong with it',
    tag,
    needs: 'repo:read',
    errors: ofOneExtension,
  })
    .input(atRef.extend({ extension: ExtensionName }))
    .output(ExtensionDetail),
  plan: operation('/extensions/plan', {
    summary: 'Tell what a promotion would change, and what stands against it',
    tag,
    needs: 'repo:admin',
    errors: [...ofOneExtension, 'EXTENSION_PROVENANCE'],
  })
    .input(atRef)
    .output(PromotionPlan),
  promote: operation('/extensions/promote', {
    summary: 'Make a commit canonical, migrating record schemas with it',
    tag,
    needs: 'repo:admin',
    errors: [...ofOneExtension, 'RECORD_MIGRATION_BLOCKED', 'EXTENSION_PROVENANCE'],
  })
    .input(
      atRef.extend({
        dryRun: z.boolean().optional().describe('Only says what would happen: nothing changes.'),
      }),
    )
    .output(z.object({ ref: z.string(), oid: z.string(), migrations: z.array(MigrationPlanEntry) })),
}
