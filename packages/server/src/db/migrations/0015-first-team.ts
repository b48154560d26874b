import type { Migration } from './index.ts'

/**
 * What a first team needs: the owner of the first start, links that let people in, letters to them, second factors and
 * passkeys; agents that last until they are revoked; the names that repositories and organizations had before; what
 * operators decide about people and organizations.
 */
export const firstTeam: Migration = {
  name: 'first team',
  statements: ({ text, integer, boolean, instant }) => [
    // One row at most: who was made at the first start, and the key they have from there.
    `create table first_owner (
      user_id ${text} primary key references users (id) on delete cascade,
      key_id ${text}
    )`,
    `insert into first_owner (user_id, key_id)
      select users.id, (
        select api_keys.id from api_keys
        where api_keys.user_id = users.id and api_keys.name = 'First start'
        order by api_keys.created_at, api_keys.id limit 1
      ) from users order by users.created_at, users.id limit 1`,
    // What they found with it was out of its reach.
    `update api_keys set scopes = '* account' where scopes = '*' and id in (select key_id from first_owner)`,

    `create table entry_links (
      secret_hash ${text} primary key,
      user_id ${text} not null references users (id) on delete cascade,
      created_at ${integer} not null,
      expires_at ${integer} not null
    )`,
    'create index entry_links_user_id on entry_links (user_id)',

    `alter table invitations add column secret_hash ${text}`,
    'create unique index invitations_secret on invitations (secret_hash) where secret_hash is not null',

    // The link that somebody joined with, in case they open it again.
    `alter table members add column link_hash ${text}`,
    'create unique index members_link on members (link_hash) where link_hash is not null',

    // There are links in them, so they are sealed.
    `create table letters (
      id ${text} primary key,
      attempts ${integer} not null,
      due_at ${integer} not null,
      ends_at ${integer} not null,
      worker_id ${text},
      created_at ${integer} not null,
      sealed ${text} not null
    )`,
    'create index letters_due on letters (due_at)',

    'create index api_keys_user_id on api_keys (user_id)',
    // With the last column SQLite counts in the index alone.
    'create index repo_tokens_unrevoked on repo_tokens (repo_id, expires_at, revoked_at) where revoked_at is null',
    'create index repo_tokens_revoked on repo_tokens (repo_id, revoked_at) where revoked_at is not null',
    'create index invites_unrevoked on invites (creator_id, expires_at, revoked_at) where revoked_at is null',
    'create index invites_revoked on invites (creator_id, revoked_at) where revoked_at is not null',

    // An attempt that was begun anew is not kept any more.
    'delete from claim_attempts where superseded = 1',
    'alter table claim_attempts drop column superseded',
    // What it calls itself.
    `alter table agent_registrations add column agent_name ${text}`,
    // When a claimed agent ends that does not come back; null for those claimed before there were refresh tokens.
    `alter table agent_registrations add column ends_at ${integer}`,
    // The refresh token that counts, the one it was got with, and the access token that came along.
    `alter table agent_registrations add column refresh_family ${text}`,
    `alter table agent_registrations add column refresh_hash ${text}`,
    `alter table agent_registrations add column refresh_before_hash ${text}`,
    `alter table agent_registrations add column refresh_token_id ${text}`,
    `alter table agent_registrations add column refreshed_at ${integer}`,
    'create unique index agent_registrations_refresh_family on agent_registrations (refresh_family)',
    'create index agent_registrations_ends_at on agent_registrations (ends_at) where revoked_at is null',
    `alter table agent_tokens add column used_at ${integer}`,
    'create index agent_tokens_expires_at on agent_tokens (expires_at)',

    `create table former_repo_names (
      org_id ${text} not null references orgs (id) on delete cascade,
      name ${text} not null,
      repo_id ${text} not null references repos (id) on delete cascade,
      left_at ${integer} not null,
      primary key (org_id, name)
    )`,
    'create index former_repo_names_repo on former_repo_names (repo_id, left_at)',
    `create table former_org_slugs (
      slug ${text} primary key,
      org_id ${text} not null references orgs (id) on delete cascade,
      left_at ${integer} not null
    )`,
    'create index former_org_slugs_org on former_org_slugs (org_id, left_at)',

    // better-auth writes these, as it does sessions and accounts.
    `alter table users add column two_factor_enabled ${boolean} default false`,
    `create table two_factors (
      id ${text} primary key,
      user_id ${text} not null unique references users (id) on delete cascade,
      secret ${text} not null,
      backup_codes ${text} not null,
      verified ${boolean} not null,
      failed_verification_count ${integer},
      locked_until ${instant},
      last_step ${integer} not null default 0
    )`,
    `create table passkeys (
      id ${text} primary key,
      user_id ${text} not null references users (id) on delete cascade,
      name ${text},
      public_key ${text} not null,
      credential_id ${text} not null unique,
      counter ${integer} not null,
      device_type ${text} not null,
      backed_up ${boolean} not null,
      transports ${text},
      aaguid ${text},
      created_at ${instant}
    )`,
    'create index passkeys_user_id on passkeys (user_id)',
    // Everybody who begins to sign in leaves a row, and many never come back: these find what is over.
    'create index verifications_expires_at on verifications (expires_at)',
    'create index sessions_expires_at on sessions (expires_at)',

    // For whoever watches a workflow.
    `alter table run_steps add column begun_at ${integer}`,

    `alter table users add column disabled_at ${integer}`,
    // Frozen from outside: no owner thaws it.
    `alter table orgs add column held ${integer} not null default 0`,
    // Null where the settings of the server hold.
    `alter table orgs add column max_repos ${integer}`,
    `alter table orgs add column max_bytes ${integer}`,
  ],
}
