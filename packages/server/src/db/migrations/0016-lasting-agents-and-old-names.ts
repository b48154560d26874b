import type { Migration } from './index.ts'

/** Agents that last until they are revoked, and the names that repositories and organizations had before. */
export const lastingAgentsAndOldNames: Migration = {
  name: 'lasting agents and old names',
  statements: ({ text, integer }) => [
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
  ],
}
