import type { Migration } from './index.ts'

/** The tokens of sessions are kept as hashes, like all other secrets. Those who are signed in stay signed in. */
export const sessionHashes: Migration = {
  name: 'session hashes',
  statements: ({ sha256 }) => [
    `update sessions set token = ${sha256('token')}`,
    'alter table sessions rename column token to token_hash',
  ],
}
