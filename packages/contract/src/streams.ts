import { oc } from '@orpc/contract'
import * as z from 'zod'
import type { ErrorCode } from './errors.ts'
import { LogEvent, NumberedEvent } from './events.ts'
import { OrgSlug, RecordName, RepoName, Revision } from './names.ts'
import { pick } from './operation.ts'
import { everyRecord, RecordRow, RowConditions } from './records.ts'
import { RunId } from './runs.ts'

// What stands beside the operations and is no JSON: logs as they grow, rows as lines, and files as they are.

type Media =
  | 'text/event-stream'
  | 'application/x-ndjson'
  | 'application/json'
  | 'application/zip'
  | 'text/plain'

/** What is sent: of each event, or of each line, the schema of the input or output. */
interface Sent {
  media: Media
  example: string
}

export interface StreamMeta extends Record<string, unknown> {
  request?: Sent
  answer: Sent
  /** There is a last event, and 204 for whoever has had it. */
  ends?: boolean
}

interface Declaration<Code extends ErrorCode> extends StreamMeta {
  method: 'GET' | 'POST'
  summary: string
  description: string
  tag: string
  errors: readonly Code[]
}

const everyStream = ['UNAUTHENTICATED', 'FORBIDDEN', 'TOO_MANY_REQUESTS'] as const satisfies ErrorCode[]

const base = oc.$meta<StreamMeta>({ answer: { media: 'application/json', example: '{}' } })

function stream<const Code extends ErrorCode>(path: `/${string}`, declaration: Declaration<Code>) {
  const { method, summary, description, tag, errors, ...meta } = declaration
  return base
    .route({
      method,
      path,
      summary,
      description,
      tags: [tag],
      operationId: path.slice(1).replace('/{id}', '').replaceAll('/', '.'),
      inputStructure: 'detailed',
    })
    .meta(meta as StreamMeta)
    .errors(pick<(typeof everyStream)[number] | Code>([...everyStream, ...errors]))
}

const resuming = z.object({
  'last-event-id': z
    .string()
    .optional()
    .meta({
      description: 'The `id` of the last event that was taken: it goes on after that.',
      examples: ['7'],
    }),
})
const actingIn = OrgSlug.optional().describe(
  'The organization to act in, in the place of the header, which a browser cannot send.',
)
const event = {
  id: 'evt_01kdvt6x3c8m4q9r',
  ts: 1_767_225_600_000,
  scope: 'repo:repo_01kdvt6x3c8m4q9r',
  type: 'git.push',
  actor: { kind: 'user', id: 'usr_01kdvt6x3c8m4q9r' },
}
const frame = (data: object) => `id: 7\ndata: ${JSON.stringify(data)}\n\n`
const row = { data: { title: 'Write the docs' } }

export const RowsPlace = z.object({ name: RepoName, record: RecordName })

const At = z.object({
  name: RepoName,
  ref: Revision.optional().describe('The default branch when left out.'),
})
export const ArchiveAsked = At.extend({ format: z.enum(['zip', 'tar.gz']).default('zip') })
export const RawAsked = At.extend({
  path: z
    .string()
    .min(1)
    .meta({ examples: ['src/hello.ts'] }),
  download: z.string().optional().describe('Given at all, a browser keeps the file and does not show it.'),
})
const gitRead = ['BAD_REQUEST', 'REPO_NOT_FOUND', 'GIT_OBJECT_NOT_FOUND', 'REPO_WORKSPACE_REQUIRED'] as const
const Bytes = z.string().describe('Bytes.')

export const streams = {
  runsTail: stream('/runs/{id}/tail', {
    method: 'GET',
    summary: 'Follow the event log of a run',
    description:
      'Server-sent events from the first one on; it ends after the last event of the run, and answers 204 to whoever has had that. Needs `repo:read`.',
    tag: 'Runs',
    errors: ['FEATURE_UNAVAILABLE', 'RUN_NOT_FOUND'],
    ends: true,
    answer: { media: 'text/event-stream', example: frame(event) },
  })
    .input(
      z.object({
        params: z.object({ id: RunId }),
        query: z.object({ org: actingIn }),
        headers: resuming,
      }),
    )
    .output(LogEvent),
  eventsTail: stream('/events/tail', {
    method: 'GET',
    summary: 'Follow the event log of a repository, or of the acting organization when no name is given',
    description: 'Server-sent events from now on. Needs `repo:read`.',
    tag: 'Events',
    errors: ['BAD_REQUEST', 'REPO_NOT_FOUND'],
    answer: { media: 'text/event-stream', example: frame({ ...event, seq: 7, credentialId: null }) },
  })
    .input(
      z.object({
        query: z.object({
          name: RepoName.optional().describe('The log of the acting organization when left out.'),
          org: actingIn,
        }),
        headers: resuming,
      }),
    )
    .output(NumberedEvent),
  recordsExport: stream('/records/export', {
    method: 'POST',
    summary: 'Read all rows of a record collection, as lines of JSON',
    description: 'A line a row, in the order they were made. Needs `repo:read`.',
    tag: 'Records',
    errors: ['BAD_REQUEST', 'PAYLOAD_TOO_LARGE', ...everyRecord],
    answer: {
      media: 'application/x-ndjson',
      example: `${JSON.stringify({ id: 'rec_01kdvt6x3c8m4q9r', revision: 1, createdAt: event.ts, updatedAt: event.ts, ...row })}\n`,
    },
  })
    .input(z.object({ body: RowsPlace.extend({ where: RowConditions.optional() }) }))
    .output(RecordRow),
  recordsImport: stream('/records/import', {
    method: 'POST',
    summary: 'Add rows to a record collection, as lines of JSON',
    description:
      'A line a row, of which only `data` counts, any number of them. It stops at a line that is wrong, and names it; what was added before stays. Needs `repo:write`.',
    tag: 'Records',
    errors: ['BAD_REQUEST', 'QUOTA_EXCEEDED', ...everyRecord],
    request: { media: 'application/x-ndjson', example: `${JSON.stringify(row)}\n` },
    answer: { media: 'application/json', example: JSON.stringify({ imported: 1 }) },
  })
    .input(z.object({ query: RowsPlace, body: RecordRow.pick({ data: true }) }))
    .output(z.object({ imported: z.int().describe('How many rows were added.') })),
  gitArchive: stream('/git/archive', {
    method: 'GET',
    summary: 'Download the files of a commit as an archive',
    description:
      'In a folder called after the repository and the revision, without what `export-ignore` names. Needs `repo:read`, by bearer token, as a password, or by cookie.',
    tag: 'Git contents',
    errors: gitRead,
    answer: { media: 'application/zip', example: 'PK…' },
  })
    .input(z.object({ query: ArchiveAsked.extend({ org: actingIn }) }))
    .output(Bytes),
  gitRaw: stream('/git/raw', {
    method: 'GET',
    summary: 'Read a file as it is',
    description:
      'Text as plain text and images as images; everything else, HTML and SVG included, is never a page of this server. `ETag` is the id of the blob. Needs `repo:read`, by bearer token, as a password, or by cookie.',
    tag: 'Git contents',
    errors: gitRead,
    answer: { media: 'text/plain', example: 'hello\n' },
  })
    .input(z.object({ query: RawAsked.extend({ org: actingIn }) }))
    .output(Bytes),
}
