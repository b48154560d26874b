import type { Migration } from './index.ts'

/** Access without an account: agents that register and are claimed, invites, and organizations that expire. */
export const agents: Migration = {
  name: 'agents',
  statements: ({ text, integer }) => [
    // 'team', or 'agent' and 'anonymous' for those nobody has taken over yet.
    `alter table orgs add column kind ${text} not null default 'team'`,
    `alter table orgs add column expires_at ${integer}`,
    // Where it was made from, as long as nobody has taken it over.
    `alter table orgs add column address ${text}`,
    'create index orgs_expires_at on orgs (expires_at)',
    'create index orgs_address on orgs (address)',
    'create index repos_expires_at on repos (expires_at)',

    // Kept after their end, so that old links say what happened.
    `create table agent_registrations (
      id ${text} primary key,
      kind ${text} not null,
      org_id ${text} not null,
      claim_token_hash ${text} not null unique,
      claim_expires_at ${integer} not null,
      claim_email ${text},
      claim_used_at ${integer},
      claimed_by ${text},
      claimed_at ${integer},
      revoked_at ${integer},
      generation ${integer} not null,
      polled_at ${integer},
      poll_seconds ${integer} not null,
      address ${text} not null,
      created_at ${integer} not null
    )`,
    'create index agent_registrations_claimed_by on agent_registrations (claimed_by)',
    'create index agent_registrations_address on agent_registrations (address, created_at)',
    `create table claim_attempts (
      id ${text} primary key,
      registration_id ${text} not null references agent_registrations (id) on delete cascade,
      token_hash ${text} not null unique,
      code_hmac ${text} not null,
      claim_email ${text} not null,
      wrong_tries ${integer} not null,
      superseded ${integer} not null,
      expires_at ${integer} not null,
      created_at ${integer} not null
    )`,
    'create index claim_attempts_registration_id on claim_attempts (registration_id)',
    `create table agent_tokens (
      id ${text} primary key,
      registration_id ${text} not null references agent_registrations (id) on delete cascade,
      secret_hash ${text} not null unique,
      generation ${integer} not null,
      created_at ${integer} not null,
      expires_at ${integer} not null,
      revoked_at ${integer}
    )`,
    'create index agent_tokens_registration_id on agent_tokens (registration_id)',
    `create table signing_keys (
      id ${text} primary key,
      public_jwk ${text} not null,
      sealed_private_jwk ${text} not null,
      created_at ${integer} not null
    )`,

    // Counts that hold across restarts and processes.
    `create table throttles (
      key ${text} primary key,
      count ${integer} not null,
      resets_at ${integer} not null
    )`,

    `create table anonymous_callers (
      id ${text} primary key,
      secret_hash ${text} not null unique,
      org_id ${text} not null references orgs (id) on delete cascade,
      created_at ${integer} not null
    )`,
    `create table invites (
      id ${text} primary key,
      secret_hash ${text} not null unique,
      secret_prefix ${text} not null,
      management_hash ${text} not null unique,
      repo_id ${text} not null,
      org_id ${text} not null,
      creator_id ${text} not null,
      scope ${text} not null,
      grant_ttl_seconds ${integer} not null,
      max_reveals ${integer},
      reveal_count ${integer} not null,
      expires_at ${integer} not null,
      revoked_at ${integer},
      created_at ${integer} not null
    )`,
    'create index invites_creator_id on invites (creator_id, created_at)',
    'create index invites_repo_id on invites (repo_id, created_at)',
  ],
}
