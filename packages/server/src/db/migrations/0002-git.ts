import type { Migration } from './index.ts'

/** Refs as rows, and which packs hold a repository's objects. */
export const git: Migration = {
  name: 'git',
  statements: ({ text, integer }) => [
    // Counts every change of the refs, so that what was made from them is known to be old.
    `alter table repos add column refs_version ${integer} not null default 0`,
    `create table git_refs (
      repo_id ${text} not null references repos (id) on delete cascade,
      name ${text} not null,
      oid ${text} not null,
      peeled ${text},
      primary key (repo_id, name)
    )`,
    `create table packs (
      id ${text} primary key,
      bytes ${integer} not null,
      objects ${integer} not null,
      created_at ${integer} not null,
      unlisted_at ${integer}
    )`,
    // A fork lists the packs of its parent: a pack goes when nobody lists it any more.
    `create table repo_packs (
      repo_id ${text} not null references repos (id) on delete cascade,
      pack_id ${text} not null references packs (id),
      primary key (repo_id, pack_id)
    )`,
    'create index repo_packs_pack_id on repo_packs (pack_id)',
  ],
}
