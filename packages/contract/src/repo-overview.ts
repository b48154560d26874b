import * as z from 'zod'
import { Apart, CommitSummary } from './git-commits.ts'
import { Counter, Oid, Timestamp } from './names.ts'
import { Repo } from './repo.ts'
import { RunStatus, RunTrigger } from './runs.ts'

const switchedOff = 'Null where extensions are switched off.'

/** What the front page of a repository shows. */
export const RepoOverview = z.object({
  repo: Repo,
  head: CommitSummary.nullable().describe('Of the default branch; null while it does not exist.'),
  branches: Counter,
  tags: Counter,
  canonical: z
    .object({
      oid: Oid,
      ahead: Apart.describe('Commits it has that the default branch has not.'),
      behind: Apart.describe('Commits of the default branch that it has not.'),
    })
    .nullable()
    .describe('The commit whose extensions are in force; null before the first promotion.'),
  extensions: Counter.nullable().describe(`In force. ${switchedOff}`),
  records: Counter.nullable().describe(`Collections in force. ${switchedOff}`),
  daemons: z.object({ total: Counter, quarantined: Counter }).nullable().describe(switchedOff),
  lastRuns: z
    .array(
      z.object({
        id: z.string(),
        extension: z.string().meta({ examples: ['triage'] }),
        trigger: RunTrigger,
        status: RunStatus,
        createdAt: Timestamp,
        endedAt: Timestamp.nullable(),
      }),
    )
    .max(5)
    .describe('The newest first.'),
})
export type RepoOverview = z.infer<typeof RepoOverview>
