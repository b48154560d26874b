import type { Migration } from './index.ts'

/** What is canonical in each repository, and what was built of the modules of any commit. */
export const extensions: Migration = {
  name: 'extensions',
  statements: ({ text, integer }) => [
    `create table canonical_commits (
      repo_id ${text} primary key references repos (id),
      commit_oid ${text} not null,
      promoted_at ${integer} not null
    )`,
    `create table canonical_extensions (
      repo_id ${text} not null references repos (id),
      name ${text} not null,
      descriptor ${text} not null,
      descriptor_hash ${text} not null,
      module_path ${text} not null,
      module_hash ${text} not null,
      bundler_version ${text} not null,
      granted ${text} not null,
      grant_hash ${text} not null,
      record_name ${text},
      schema_hash ${text},
      primary key (repo_id, name)
    )`,
    'create unique index canonical_extensions_record on canonical_extensions (repo_id, record_name) where record_name is not null',
    'create index canonical_extensions_module on canonical_extensions (module_hash)',

    // By what went in: a folder and what its module imports from outside of it, whatever repository they are in.
    `create table extension_builds (
      folder ${text} not null,
      variant ${text} not null,
      outside ${text} not null,
      module_hash ${text},
      bytes ${integer} not null,
      stored_bytes ${integer} not null,
      problems ${text},
      retry_at ${integer},
      used_at ${integer} not null,
      primary key (folder, variant)
    )`,
    'create index extension_builds_used on extension_builds (used_at)',
    'create index extension_builds_module on extension_builds (module_hash) where module_hash is not null',
  ],
}
