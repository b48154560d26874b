import type { Migration } from './index.ts'

/** What keeps the work that one request or one event sets off within bounds. */
export const boundedWork: Migration = {
  name: 'bounded-work',
  statements: ({ integer }) => [
    // What a delivery takes, and how much of that waits in each line.
    `alter table webhook_deliveries add column bytes ${integer} not null default 0`,
    `alter table webhook_lines add column pending_bytes ${integer} not null default 0`,
    `update webhook_deliveries set bytes = 512 + coalesce(
      (select length(body) from webhook_messages where webhook_messages.id = webhook_deliveries.message_id), 0)
      where status = 'pending'`,
    `update webhook_lines set pending_bytes = coalesce((select sum(bytes) from webhook_deliveries
      where webhook_deliveries.webhook_id = webhook_lines.webhook_id and status = 'pending'), 0)`,

    // A page of a rare type, or of a rare status, without going through all the others.
    'create index events_type on events (scope, type, seq)',
    'drop index webhook_deliveries_webhook',
    'drop index webhook_deliveries_repo',
    'create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, status, id)',
    'create index webhook_deliveries_repo on webhook_deliveries (repo_id, status, id)',

    // What all repositories of an organization take together, so that nobody has to add it up.
    `alter table orgs add column size_bytes ${integer} not null default 0`,
    `update orgs set size_bytes = coalesce(
      (select sum(repos.size_bytes) from repos where repos.org_id = orgs.id), 0)`,
  ],
}
