import type { Migration } from './index.ts'

/** Extensions of canonical commits that are woken by the clock and by events. */
export const daemons: Migration = {
  name: 'daemons',
  statements: ({ text, integer }) => [
    // Changed under the lock of the repository's log only, but for the worker that has it in hand.
    `create table daemons (
      id ${text} primary key,
      repo_id ${text} not null references repos (id),
      org_id ${text} not null,
      name ${text} not null,
      canonical_sha ${text} not null,
      module_hash ${text} not null,
      descriptor_hash ${text} not null,
      interval_minutes ${integer} not null,
      capabilities ${text} not null,
      event_types ${text},
      failures ${integer} not null,
      quarantined_until ${integer},
      retry_at ${integer},
      tick_at ${integer} not null,
      due_at ${integer} not null,
      set_at ${integer} not null,
      worker_id ${text},
      run_id ${text},
      wake_reason ${text},
      wake_to ${integer},
      wake_count ${integer} not null,
      last_wake_at ${integer},
      last_wake_outcome ${text},
      last_wake_detail ${text},
      last_run_id ${text},
      last_run_status ${text},
      last_run_ended_at ${integer},
      consumed_at ${integer},
      consumed_detail ${text},
      pending_from ${integer},
      pending_count ${integer} not null
    )`,
    'create unique index daemons_name on daemons (repo_id, name)',
    'create index daemons_listening on daemons (repo_id, event_types) where event_types is not null',
    'create index daemons_run on daemons (run_id) where run_id is not null',
    'create index daemons_due on daemons (due_at)',
    'create index daemons_set on daemons (set_at)',
    'create index daemons_org on daemons (org_id)',
  ],
}
