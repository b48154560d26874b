import * as z from 'zod'
import { Runtime } from './extensions.ts'
import { Counter, Timestamp } from './names.ts'
import { operation } from './operation.ts'
import { Page, pageOf } from './paging.ts'

const tag = 'Server'
const Known = Counter.nullable().describe('Null where it is not known.')

/** A person as the owner of the server sees them. */
export const ServerUser = z.object({
  id: z.string(),
  name: z.string().meta({ examples: ['Ana'] }),
  email: z.string().meta({ examples: ['ana@example.com'] }),
  emailVerified: z.boolean(),
  createdAt: Timestamp,
  disabledAt: Timestamp.nullable().describe('Since when an operator has shut them out.'),
})

/** For whoever owns the server: the account of its first start, in a session. */
export const admin = {
  self: operation('/admin/self', {
    summary: 'Tell whether the caller owns the server',
    tag,
    admission: 'session',
  })
    .input(z.object({}).optional())
    .output(z.object({ owner: z.boolean().describe('The owner of its first start: may read the rest.') })),
  overview: operation('/admin/overview', {
    summary: 'Read how the server is: for the owner of its first start',
    tag,
    admission: 'session',
  })
    .input(z.object({}).optional())
    .output(
      z.object({
        version: z.string().meta({ examples: ['0.7.0'] }),
        startedAt: Timestamp.describe('Of the process that answers.'),
        problems: z.array(z.string()).describe('What stands in the way of its work, in words.'),
        database: z.object({ kind: z.enum(['sqlite', 'postgres']), bytes: Known }),
        disk: z.object({
          sizeBytes: Known,
          freeBytes: Known,
          packBytes: Known.describe('Git objects, as of the last look.'),
        }),
        packs: z.object({ missing: Known, damaged: Known }),
        runtimes: z.array(
          z.object({
            name: Runtime,
            enabled: z.boolean(),
            reason: z.string().nullable().describe('Why it is off, and what to do about it.'),
          }),
        ),
        queues: z
          .object({
            runsQueued: Known,
            runsRunning: Known,
            runsSleeping: Known,
            deliveriesPending: Known,
            gitRunning: Known.describe('In the process that answers.'),
            gitWaiting: Known.describe('In the process that answers.'),
          })
          .describe('Of all processes together, unless it says otherwise.'),
        counts: z.object({ users: Counter, organizations: Counter, repositories: Counter }),
      }),
    ),
  users: {
    list: operation('/admin/users/list', {
      summary: 'List everybody who has an account: for the owner of the first start of the server',
      tag,
      admission: 'session',
    })
      .input(Page)
      .output(pageOf(ServerUser)),
  },
}
