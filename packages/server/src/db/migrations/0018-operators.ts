import type { Migration } from './index.ts'

/** What operators decide about people and organizations. */
export const operators: Migration = {
  name: 'operators',
  statements: ({ integer }) => [
    `alter table users add column disabled_at ${integer}`,
    // Frozen from outside: no owner thaws it.
    `alter table orgs add column held ${integer} not null default 0`,
    // Null where the settings of the server hold.
    `alter table orgs add column max_repos ${integer}`,
    `alter table orgs add column max_bytes ${integer}`,
  ],
}
