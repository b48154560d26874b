import type { Migration } from './index.ts'

/** Webhooks, what was and is to be delivered to them, and who is at it. */
export const webhooks: Migration = {
  name: 'webhooks',
  statements: ({ text, integer }) => [
    // A webhook outlives its repository until the last event has been delivered, so it does not reference it.
    `create table webhooks (
      id ${text} primary key,
      repo_id ${text} not null,
      org_id ${text} not null,
      name ${text} not null,
      url ${text} not null,
      subscription ${text} not null,
      content_type ${text} not null,
      module_hash ${text},
      status ${text} not null,
      active ${integer} not null,
      secrets ${text} not null,
      secret_prefix ${text} not null,
      secret_shown ${integer} not null,
      removed_at ${integer},
      created_at ${integer} not null,
      updated_at ${integer} not null
    )`,
    'create unique index webhooks_name on webhooks (repo_id, name) where removed_at is null',
    'create index webhooks_removed on webhooks (removed_at) where removed_at is not null',

    // Where the deliveries of a webhook wait in line. One process at a time works at a line.
    `create table webhook_lines (
      webhook_id ${text} primary key references webhooks (id) on delete cascade,
      origin ${text} not null,
      next_due_at ${integer},
      wakes ${integer} not null default 0,
      sender_id ${text},
      failing_since ${integer}
    )`,
    'create index webhook_lines_due on webhook_lines (next_due_at) where next_due_at is not null',
    // The processes that send. One that is silent for too long has lost its lines.
    `create table webhook_senders (
      id ${text} primary key,
      alive_until ${integer} not null
    )`,

    // A body, once for all webhooks it goes to.
    `create table webhook_messages (
      id ${text} primary key,
      body ${text} not null,
      digest ${text} not null,
      created_at ${integer} not null
    )`,
    `create table webhook_deliveries (
      id ${text} primary key,
      webhook_id ${text} not null references webhooks (id) on delete cascade,
      webhook_name ${text} not null,
      repo_id ${text} not null,
      message_id ${text} not null,
      event_type ${text} not null,
      subject ${text},
      seq ${integer} not null,
      status ${text} not null,
      attempt ${integer} not null,
      due_at ${integer},
      response_status ${integer},
      response_body ${text},
      error ${text},
      duration_ms ${integer},
      created_at ${integer} not null,
      delivered_at ${integer}
    )`,
    `create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at, seq) where status = 'pending'`,
    'create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id)',
    'create index webhook_deliveries_repo on webhook_deliveries (repo_id, id)',
    'create index webhook_deliveries_message on webhook_deliveries (message_id)',
  ],
}
