import * as z from 'zod'
import { LogEvent } from './events.ts'
import { Runtime } from './extensions.ts'
import { Actor, AnyJson, ExtensionName, Id, JsonObject, RepoName, StringList, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Cursor, pageLimit, pageOf } from './paging.ts'

const NullableText = z.string().nullable()

export const Run = z.object({
  id: z.string(),
  repoId: z.string(),
  repoName: z.string(),
  extension: ExtensionName,
  trigger: z.enum(['dispatch', 'push', 'record', 'event', 'daemon']),
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  actor: Actor,
  ref: z.string(),
  canonicalRef: z.string(),
  before: NullableText,
  after: NullableText,
  commitSha: NullableText,
  canonicalCommitSha: NullableText,
  executedModuleHash: NullableText,
  canonicalDescriptorHash: NullableText,
  canonicalGrantHash: NullableText,
  causeEventId: NullableText,
  rootEventId: NullableText,
  tokenId: NullableText,
  error: NullableText,
  causationDepth: z.int().nullable(),
  exitCode: z.int().nullable(),
  input: AnyJson,
  output: z.unknown().optional(),
  inputSchema: JsonObject.optional(),
  outputSchema: JsonObject.optional(),
  runtime: Runtime,
  capabilities: StringList,
  effectiveCapabilities: StringList,
  createdAt: Timestamp,
  startedAt: Timestamp.nullable(),
  endedAt: Timestamp.nullable(),
})
export type Run = z.infer<typeof Run>

const tag = 'Runs'

export const runs = {
  dispatch: operation('/runs/dispatch', {
    summary: 'Run an extension',
    tag,
    needs: 'repo:write',
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE', 'EXTENSION_NOT_FOUND', 'RUN_REJECTED', ...unready],
  })
    .input(
      z.object({
        name: RepoName,
        extension: ExtensionName,
        input: z.unknown().default({}),
        ref: z.string().min(1).optional(),
      }),
    )
    .output(z.object({ run: Run })),
  logs: operation('/runs/logs', {
    summary: 'Read the event log of a run',
    tag,
    needs: 'repo:read',
    errors: ['FEATURE_UNAVAILABLE', 'RUN_NOT_FOUND', ...unready],
  })
    .input(z.object({ id: Id, cursor: Cursor.optional(), limit: pageLimit(250, 100) }))
    .output(pageOf(LogEvent)),
}
