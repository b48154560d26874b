import * as z from 'zod'
import { LogEvent } from './events.ts'
import { Runtime } from './extensions.ts'
import {
  Actor,
  AnyJson,
  ExtensionName,
  Id,
  JsonObject,
  RepoName,
  Revision,
  StringList,
  Timestamp,
} from './names.ts'
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
  ref: z.string().meta({ examples: ['refs/trellis/canonical'] }),
  canonicalRef: z.string(),
  before: NullableText.describe('Where the ref of the push was.'),
  after: NullableText.describe('Where the push moved it.'),
  commitSha: NullableText.describe('The commit it reads.'),
  canonicalCommitSha: NullableText,
  executedModuleHash: NullableText.describe('Of the built module that ran.'),
  canonicalDescriptorHash: NullableText,
  canonicalGrantHash: NullableText.describe('Of the capabilities granted when it was promoted.'),
  causeEventId: NullableText.describe('The event that started it.'),
  rootEventId: NullableText.describe('Where the chain of causes began.'),
  tokenId: NullableText.describe('The id of the token the module acts with.'),
  error: NullableText.describe('Why it failed.'),
  causationDepth: z.int().nullable().describe('How many runs lie between it and what came from outside.'),
  exitCode: z.int().nullable().describe('Of the process, in the sandbox.'),
  input: AnyJson,
  output: z.unknown().optional(),
  inputSchema: JsonObject.optional().describe('A JSON Schema.'),
  outputSchema: JsonObject.optional().describe('A JSON Schema.'),
  runtime: Runtime,
  capabilities: StringList.describe('What the descriptor asks for.'),
  effectiveCapabilities: StringList.describe('What the run could do.'),
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
        input: z
          .unknown()
          .default({})
          .meta({ description: 'What the module gets.', examples: [{ title: 'Write the docs' }] }),
        ref: Revision.optional().describe('The canonical commit when left out.'),
      }),
    )
    .output(z.object({ run: Run })),
  logs: operation('/runs/logs', {
    summary: 'Read the event log of a run',
    tag,
    needs: 'repo:read',
    errors: ['FEATURE_UNAVAILABLE', 'RUN_NOT_FOUND', ...unready],
  })
    .input(
      z.object({
        id: Id.meta({ examples: ['run_01kdvt6x3c8m4q9r'] }),
        cursor: Cursor.optional(),
        limit: pageLimit(250, 100),
      }),
    )
    .output(pageOf(LogEvent)),
}
