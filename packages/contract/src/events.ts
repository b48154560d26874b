import * as z from 'zod'
import { Actor, RepoName, Timestamp } from './names.ts'
import { operation } from './operation.ts'
import { Cursor, pageLimit, pageOf } from './paging.ts'

export const EventType = z
  .string()
  .max(128)
  .regex(/^[a-z][a-z0-9]*(\.[a-z0-9]+)*$/)
  .meta({ examples: ['git.push'] })

export const Cause = z
  .object({
    eventId: z.string().optional().describe('The event that started the run.'),
    runId: z.string().describe('The run that caused it.'),
    depth: z.int().describe('How many runs lie between it and what came from outside.'),
    chain: z.array(z.string()).describe('The ids of those runs, the first one first.'),
    rootEventId: z.string().nullable().describe('Where it all began.'),
  })
  .describe('Why an event happened: the run that caused it, and the chain of runs behind that one.')
export type Cause = z.infer<typeof Cause>

export const LogEvent = z.object({
  id: z.string(),
  ts: Timestamp,
  scope: z.string().meta({ description: 'The log it is in.', examples: ['repo:repo_01kdvt6x3c8m4q9r'] }),
  type: EventType,
  actor: Actor,
  subject: z
    .string()
    .optional()
    .meta({ description: 'What it is about.', examples: ['refs/heads/main'] }),
  payload: z.unknown().optional().describe('What happened, depending on the type.'),
  cause: Cause.optional(),
})
export type LogEvent = z.infer<typeof LogEvent>

/** An event with its place in its log. */
export const NumberedEvent = LogEvent.extend({
  seq: z.int().min(1).describe('Its place in its log: from 1 without a gap, in the order of commit.'),
  credentialId: z.string().nullable().describe('The id, never the secret, of the credential that was used.'),
})
export type NumberedEvent = z.infer<typeof NumberedEvent>

const Moment = z
  .int()
  .min(0)
  .max(8.64e15)
  .meta({ examples: [1767225600000] })

export const events = {
  list: operation('/events/list', {
    summary: 'Read the event log of a repository, or of the acting organization when no name is given',
    tag: 'Events',
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(
      z.object({
        name: RepoName.optional().describe('The log of the acting organization when left out.'),
        types: z.array(EventType).min(1).max(32).optional().describe('Only these.'),
        since: z
          .int()
          .min(0)
          .optional()
          .describe('Only events numbered above this: what a follower has already seen.'),
        order: z.enum(['oldest', 'newest']).default('oldest'),
        cursor: Cursor.optional(),
        limit: pageLimit(250, 100),
      }),
    )
    .output(pageOf(NumberedEvent)),
  counts: operation('/events/counts', {
    summary: 'Count events of a log by type, in each hour or day',
    tag: 'Events',
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(
      z.object({
        name: RepoName.optional().describe('The log of the acting organization when left out.'),
        types: z.array(EventType).min(1).max(32).optional().describe('Only these.'),
        from: Moment.describe('Unix milliseconds. Counted from the beginning of the hour or day it is in.'),
        to: Moment.meta({
          description: 'Unix milliseconds; up to 168 hours or days later.',
          examples: [1767312000000],
        }),
        bucket: z.enum(['hour', 'day']).describe('Of UTC.'),
      }),
    )
    .output(
      z.object({
        bucket: z.enum(['hour', 'day']),
        items: z
          .array(
            z.object({
              start: Timestamp,
              counts: z.record(z.string(), z.int()).meta({
                description: 'By type; those without any are left out.',
                examples: [{ 'git.push': 2 }],
              }),
            }),
          )
          .describe('All hours or days, the first one first.'),
        countedFrom: Timestamp.describe('From then on all are counted.'),
        truncated: z.boolean().describe('There are too many to count those before.'),
      }),
    ),
}
