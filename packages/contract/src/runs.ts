import * as z from 'zod'
import type { ErrorCode } from './errors.ts'
import { LogEvent } from './events.ts'
import { Runtime } from './extensions.ts'
import {
  Actor,
  AnyJson,
  Counter,
  ExtensionName,
  Id,
  JsonObject,
  RepoName,
  Revision,
  StringList,
  Timestamp,
} from './names.ts'
import { ofOneExtension, operation, unready } from './operation.ts'
import { Cursor, listOf, Page, pageLimit, pageOf } from './paging.ts'

const NullableText = z.string().nullable()

export const RunTrigger = z.enum(['dispatch', 'push', 'record', 'event', 'daemon'])
export type RunTrigger = z.infer<typeof RunTrigger>

export const RunStatus = z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'])
export type RunStatus = z.infer<typeof RunStatus>

export const Run = z.object({
  id: z.string(),
  repoId: z.string(),
  repoName: z.string(),
  extension: ExtensionName,
  trigger: RunTrigger,
  status: RunStatus,
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

export const RunStep = z.object({
  step: Counter.describe('Counts them in the order they were begun, from 0.'),
  name: z.string(),
  kind: z.enum(['do', 'sleep', 'sleepUntil', 'waitForEvent']),
  state: z.enum(['running', 'waiting', 'done', 'failed']),
  attempt: z.int().min(1).describe('Which one it is at, or ended with.'),
  begunAt: Timestamp.nullable().describe('Null where it is not known.'),
  dueAt: Timestamp.nullable().describe('When it goes on by itself, or would have.'),
  endedAt: Timestamp.nullable(),
  waitsFor: z
    .object({ type: z.string(), subject: z.string().optional() })
    .nullable()
    .describe('The event of `waitForEvent`.'),
  error: NullableText.describe('Why it failed.'),
})
export type RunStep = z.infer<typeof RunStep>

const tag = 'Runs'

export const RunId = Id.meta({ examples: ['run_01kdvt6x3c8m4q9r'] })
const everyRun = ['FEATURE_UNAVAILABLE', 'RUN_NOT_FOUND'] as const satisfies ErrorCode[]

export const runs = {
  dispatch: operation('/runs/dispatch', {
    summary: 'Run an extension',
    tag,
    needs: 'repo:write',
    errors: [...ofOneExtension, 'RUN_REJECTED'],
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
    errors: [...everyRun, ...unready],
  })
    .input(z.object({ id: RunId, cursor: Cursor.optional(), limit: pageLimit(250, 100) }))
    .output(pageOf(LogEvent)),
  get: operation('/runs/get', {
    summary: 'Show a run, or wait for its end',
    tag,
    needs: 'repo:read',
    errors: everyRun,
  })
    .input(
      z.object({
        id: RunId,
        waitMs: z
          .int()
          .min(0)
          .max(60_000)
          .optional()
          .describe('How long to wait for a run that has not ended. It is answered as it is then.'),
      }),
    )
    .output(z.object({ run: Run })),
  steps: operation('/runs/steps', {
    summary: 'List the steps of a workflow run, in the order they were begun',
    tag,
    needs: 'repo:read',
    errors: everyRun,
  })
    .input(z.object({ id: RunId }))
    .output(listOf(RunStep)),
  list: operation('/runs/list', {
    summary: 'List the runs of a repository, the newest first',
    tag,
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE'],
  })
    .input(
      Page.extend({
        name: RepoName,
        extension: ExtensionName.optional().describe('Only of this one.'),
        status: RunStatus.optional().describe('Only these.'),
        trigger: RunTrigger.optional().describe('Only these.'),
      }),
    )
    .output(pageOf(Run)),
  cancel: operation('/runs/cancel', {
    summary: 'End a run that has not ended',
    tag,
    needs: 'repo:write',
    errors: everyRun,
  })
    .input(z.object({ id: RunId }))
    .output(z.object({ run: Run.describe('As it is now: one that was running ends a moment later.') })),
}
