import * as z from 'zod'
import { Actor, RepoName, Timestamp } from './names.ts'
import { operation } from './operation.ts'
import { Cursor, pageLimit, pageOf } from './paging.ts'

export const EventType = z
  .string()
  .max(128)
  .regex(/^[a-z][a-z0-9]*(\.[a-z0-9]+)*$/)

/** Why an event happened: the run that caused it, and the chain of runs behind that one. */
export const Cause = z.object({
  eventId: z.string().optional(),
  runId: z.string(),
  depth: z.int(),
  chain: z.array(z.string()),
  rootEventId: z.string().nullable(),
})
export type Cause = z.infer<typeof Cause>

export const LogEvent = z.object({
  id: z.string(),
  ts: Timestamp,
  scope: z.string(),
  type: EventType,
  actor: Actor,
  subject: z.string().optional(),
  payload: z.unknown().optional(),
  cause: Cause.optional(),
})
export type LogEvent = z.infer<typeof LogEvent>

/** An event with its place in its log: numbers run from 1 without a gap, in the order of commit. */
export const NumberedEvent = LogEvent.extend({
  seq: z.int().min(1),
  /** The id, never the secret, of the credential that was used. */
  credentialId: z.string().nullable(),
})
export type NumberedEvent = z.infer<typeof NumberedEvent>

export const events = {
  list: operation('/events/list', {
    summary: 'Read the event log of a repository, or of the acting organization when no name is given',
    tag: 'Events',
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(
      z.object({
        name: RepoName.optional(),
        /** Only these event types. */
        types: z.array(EventType).min(1).max(32).optional(),
        /** Only events numbered above this: what a follower has already seen. */
        since: z.int().min(0).optional(),
        order: z.enum(['oldest', 'newest']).default('oldest'),
        cursor: Cursor.optional(),
        limit: pageLimit(250, 100),
      }),
    )
    .output(pageOf(NumberedEvent)),
}
