import type { Migration } from './index.ts'

/** People, organizations, credentials, repositories as rows, and the event log. */
export const foundation: Migration = {
  name: 'foundation',
  statements: ({ text, integer, boolean, instant }) => [
    // People. better-auth writes these four.
    `create table users (
      id ${text} primary key,
      name ${text} not null,
      email ${text} not null unique,
      email_verified ${boolean} not null,
      image ${text},
      created_at ${instant} not null,
      updated_at ${instant} not null
    )`,
    `create table sessions (
      id ${text} primary key,
      user_id ${text} not null references users (id) on delete cascade,
      token ${text} not null unique,
      expires_at ${instant} not null,
      ip_address ${text},
      user_agent ${text},
      created_at ${instant} not null,
      updated_at ${instant} not null
    )`,
    'create index sessions_user_id on sessions (user_id)',
    `create table accounts (
      id ${text} primary key,
      account_id ${text} not null,
      provider_id ${text} not null,
      user_id ${text} not null references users (id) on delete cascade,
      access_token ${text},
      refresh_token ${text},
      id_token ${text},
      access_token_expires_at ${instant},
      refresh_token_expires_at ${instant},
      scope ${text},
      password ${text},
      created_at ${instant} not null,
      updated_at ${instant} not null
    )`,
    'create index accounts_user_id on accounts (user_id)',
    `create table verifications (
      id ${text} primary key,
      identifier ${text} not null,
      value ${text} not null,
      expires_at ${instant} not null,
      created_at ${instant} not null,
      updated_at ${instant} not null
    )`,
    'create index verifications_identifier on verifications (identifier)',

    // Organizations and who is in them.
    `create table orgs (
      id ${text} primary key,
      slug ${text} not null unique,
      name ${text} not null,
      personal_user_id ${text} unique references users (id),
      frozen ${integer} not null,
      repo_count ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    )`,
    `create table members (
      id ${text} primary key,
      org_id ${text} not null references orgs (id) on delete cascade,
      user_id ${text} not null references users (id) on delete cascade,
      role ${text} not null,
      created_at ${integer} not null,
      unique (org_id, user_id)
    )`,
    'create index members_user_id on members (user_id)',
    `create table invitations (
      id ${text} primary key,
      org_id ${text} not null references orgs (id) on delete cascade,
      email ${text} not null,
      role ${text} not null,
      invited_by ${text} not null references users (id),
      created_at ${integer} not null,
      expires_at ${integer} not null,
      unique (org_id, email)
    )`,
    'create index invitations_email on invitations (email)',

    // Credentials. Only hashes of secrets are kept.
    `create table api_keys (
      id ${text} primary key,
      org_id ${text} not null references orgs (id) on delete cascade,
      user_id ${text} not null references users (id) on delete cascade,
      name ${text} not null,
      prefix ${text} not null,
      secret_hash ${text} not null unique,
      scopes ${text} not null,
      enabled ${integer} not null,
      expires_at ${integer},
      last_used_at ${integer},
      created_at ${integer} not null
    )`,
    'create index api_keys_owner on api_keys (org_id, user_id)',

    `create table repos (
      id ${text} primary key,
      org_id ${text} not null references orgs (id),
      name ${text} not null,
      artifact_id ${text} not null,
      default_branch ${text} not null,
      read_only ${integer} not null,
      size_bytes ${integer} not null,
      last_push_at ${integer},
      source ${text},
      expires_at ${integer},
      created_at ${integer} not null,
      updated_at ${integer} not null,
      unique (org_id, name)
    )`,
    `create table repo_tokens (
      id ${text} primary key,
      repo_id ${text} not null references repos (id) on delete cascade,
      store_token_id ${text} not null,
      prefix ${text} not null,
      secret_hash ${text} not null unique,
      scope ${text} not null,
      op ${text} not null,
      actor_kind ${text} not null,
      actor_id ${text} not null,
      created_at ${integer} not null,
      expires_at ${integer} not null,
      revoked_at ${integer}
    )`,
    'create index repo_tokens_repo_id on repo_tokens (repo_id, created_at)',
    'create index repo_tokens_actor on repo_tokens (actor_id)',

    // The event log. It outlives what it tells of, so it references nothing.
    `create table event_counters (
      scope ${text} primary key,
      last_seq ${integer} not null
    )`,
    `create table events (
      scope ${text} not null,
      seq ${integer} not null,
      id ${text} not null unique,
      type ${text} not null,
      ts ${integer} not null,
      actor_kind ${text} not null,
      actor_id ${text} not null,
      credential_id ${text},
      subject ${text},
      payload ${text},
      cause ${text},
      primary key (scope, seq)
    )`,

    // What all processes over one database must agree on.
    `create table settings (
      name ${text} primary key,
      value ${text} not null
    )`,
  ],
}
