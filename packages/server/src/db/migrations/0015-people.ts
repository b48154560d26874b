import type { Migration } from './index.ts'

/** The owner of the first start, links that let people in, letters to them, and lists of what is alive. */
export const people: Migration = {
  name: 'people',
  statements: ({ text, integer }) => [
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
  ],
}
