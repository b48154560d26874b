import type { Migration } from './index.ts'

/**
 * Runs of extensions: what waits, what runs and what has ended, what starts them, the secrets they
 * may be given, and the daemons that the clock and events wake.
 */
export const runsAndDaemons: Migration = {
  name: 'runs and daemons',
  statements: ({ text, integer }) => [
    // What may be large comes last, so that nobody reads past it who does not want it.
    `create table runs (
      id ${text} primary key,
      repo_id ${text} not null,
      org_id ${text} not null,
      extension ${text} not null,
      trigger_kind ${text} not null,
      status ${text} not null,
      runtime ${text} not null,
      lane ${text} not null,
      actor_kind ${text} not null,
      actor_id ${text} not null,
      ref ${text} not null,
      before_oid ${text},
      after_oid ${text},
      commit_sha ${text},
      canonical_commit ${text},
      module_commit ${text} not null,
      module_hash ${text} not null,
      descriptor_hash ${text},
      grant_hash ${text},
      cause_event_id ${text},
      root_event_id ${text},
      depth ${integer} not null,
      token_id ${text},
      worker_id ${text},
      ready ${integer} not null,
      taken_at ${integer},
      due_at ${integer},
      cancel_requested_at ${integer},
      exit_code ${integer},
      created_at ${integer} not null,
      started_at ${integer},
      ended_at ${integer},
      bytes ${integer} not null,
      log_bytes ${integer} not null,
      error ${text},
      ancestors ${text} not null,
      capabilities ${text} not null,
      effective ${text} not null,
      input_schema ${text},
      output_schema ${text},
      input ${text} not null,
      output ${text}
    )`,
    'create index runs_repo on runs (repo_id, id)',
    'create index runs_extension on runs (repo_id, extension, id)',
    'create index runs_ready on runs (org_id, lane, id) where ready = 1',
    `create index runs_queued on runs (lane, created_at) where status = 'queued'`,
    'create index runs_actor on runs (org_id, actor_id) where ended_at is null',
    'create index runs_due on runs (due_at) where due_at is not null',
    `create index runs_running on runs (worker_id) where status = 'running'`,
    'create index runs_module on runs (module_hash) where ended_at is null',
    'create index runs_ended on runs (ended_at) where ended_at is not null',
    'create index runs_org_ended on runs (org_id, ended_at) where ended_at is not null',

    // One for each organization and lane in which it runs anything.
    `create table run_queues (
      org_id ${text} not null,
      lane ${text} not null,
      provisional ${integer} not null,
      ready ${integer} not null,
      running ${integer} not null,
      turn_at ${integer} not null,
      kept_bytes ${integer} not null,
      primary key (org_id, lane)
    )`,
    'create index run_queues_waiting on run_queues (lane, running, turn_at) where ready > 0',

    // What was set off, until its input has been held against a schema.
    `create table run_proposals (
      id ${text} primary key,
      repo_id ${text} not null references repos (id),
      org_id ${text} not null,
      run ${text} not null,
      cause ${text}
    )`,
    'create index run_proposals_repo on run_proposals (repo_id, id)',
    'create index run_proposals_org on run_proposals (org_id)',

    // What listens to what: extensions of the canonical commit, and steps of workflows that wait for an event.
    `create table run_triggers (
      repo_id ${text} not null references repos (id),
      extension ${text} not null,
      run_id ${text} not null,
      step ${integer} not null,
      on_push ${text},
      on_event ${text},
      record_name ${text},
      on_create ${integer} not null,
      on_transition ${integer} not null,
      primary key (repo_id, extension, run_id, step)
    )`,

    // The journal of a workflow: what it began, in order, and what came of it.
    `create table run_steps (
      run_id ${text} not null,
      step ${integer} not null,
      name ${text} not null,
      kind ${text} not null,
      state ${text} not null,
      attempt ${integer} not null,
      due_at ${integer},
      place ${integer},
      ended_at ${integer},
      asked ${text} not null,
      arrived ${text},
      result ${text},
      error ${text},
      primary key (run_id, step)
    )`,
    `create index run_steps_arrived on run_steps (run_id) where arrived is not null and state = 'waiting'`,

    `create table repo_secrets (
      repo_id ${text} not null references repos (id),
      name ${text} not null,
      sealed ${text} not null,
      updated_at ${integer} not null,
      primary key (repo_id, name)
    )`,
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
    'create index daemons_due on daemons (due_at, org_id)',
    'create index daemons_quarantined on daemons (repo_id) where quarantined_until is not null',
    'create index daemons_set on daemons (set_at)',
    'create index daemons_org on daemons (org_id, due_at)',
  ],
}
