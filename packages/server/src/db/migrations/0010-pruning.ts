import type { Migration } from './index.ts'

/** What refs have left behind, so that it can go when nobody has wanted it back for long enough. */
export const pruning: Migration = {
  name: 'pruning',
  statements: ({ text, integer }) => [
    // Counts how often objects were taken away: who looked before and lands after must look again.
    `alter table repos add column prunes ${integer} not null default 0`,
    `create table abandoned_tips (
      repo_id ${text} not null references repos (id),
      oid ${text} not null,
      since ${integer} not null,
      primary key (repo_id, oid)
    )`,
    'create index abandoned_tips_since on abandoned_tips (since)',
  ],
}
