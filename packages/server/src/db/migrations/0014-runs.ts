import type { Migration } from './index.ts'

/** Runs of extensions: what waits, what runs and what has ended, what starts them, and the secrets they may be given. */
export const runs: Migration = {
  name: 'runs',
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
    'create index runs_ready on runs (org_id, id) where ready = 1',
    `create index runs_queued on runs (created_at) where status = 'queued'`,
    'create index runs_actor on runs (org_id, actor_id) where ended_at is null',
    'create index runs_due on runs (due_at) where due_at is not null',
    `create index runs_running on runs (worker_id) where status = 'running'`,
    'create index runs_module on runs (module_hash) where ended_at is null',
    'create index runs_ended on runs (ended_at) where ended_at is not null',
    'create index runs_org_ended on runs (org_id, ended_at) where ended_at is not null',

    // One for each organization that runs anything. The least lately served is served next.
    `create table run_queues (
      org_id ${text} primary key,
      provisional ${integer} not null,
      ready ${integer} not null,
      running ${integer} not null,
      served_at ${integer} not null,
      kept_bytes ${integer} not null
    )`,
    'create index run_queues_waiting on run_queues (served_at) where ready > 0',

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
  ],
}
