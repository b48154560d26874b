import type { Migration } from './index.ts'

/** Background work of every kind is held and taken in turns the way webhooks were; repositories have rules for refs. */
export const house: Migration = {
  name: 'house',
  statements: ({ text, integer }) => [
    'alter table webhook_senders rename to workers',
    'alter table webhook_lines rename column sender_id to worker_id',
    // When a job that one process is enough for is to be done next.
    `create table background_turns (
      name ${text} primary key,
      due_at ${integer} not null
    )`,

    // JSON; without it a repository has the rules that new ones start with.
    `alter table repos add column ref_rules ${text}`,
    // Nobody could delete a default branch so far, and everybody could force a push to it.
    `update repos set ref_rules = '[{"pattern":"HEAD","refuse":{"delete":{"except":["admin"]}}}]'`,
    // JSON: the patterns of the refs a token may move; without it, all.
    `alter table repo_tokens add column refs ${text}`,
  ],
}
