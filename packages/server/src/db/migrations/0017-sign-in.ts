import type { Migration } from './index.ts'

/** Second factors and passkeys of people. better-auth writes these, as it does sessions and accounts. */
export const signIn: Migration = {
  name: 'sign-in',
  statements: ({ text, integer, boolean, instant }) => [
    `alter table users add column two_factor_enabled ${boolean} default false`,
    `create table two_factors (
      id ${text} primary key,
      user_id ${text} not null unique references users (id) on delete cascade,
      secret ${text} not null,
      backup_codes ${text} not null,
      verified ${boolean} not null,
      failed_verification_count ${integer},
      locked_until ${instant}
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
  ],
}
