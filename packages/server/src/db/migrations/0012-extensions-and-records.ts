import type { Migration } from './index.ts'

/** What is canonical in each repository, what was built of the modules of any commit, and the records they declare. */
export const extensionsAndRecords: Migration = {
  name: 'extensions and records',
  statements: ({ text, integer }) => [
    // Most logs are short, and there it helps nobody.
    'drop index events_type',
    'create index events_type on events (scope, type, seq) where seq > 100',

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

    // One for each record that was ever promoted. Without its schema in force it keeps its rows, out of sight.
    `create table record_collections (
      id ${text} primary key,
      repo_id ${text} not null references repos (id),
      org_id ${text} not null,
      name ${text} not null,
      declared ${text} not null,
      schema_hash ${text} not null,
      in_force ${integer} not null,
      version ${integer} not null,
      upgrades ${text} not null,
      indexes ${text} not null,
      row_count ${integer} not null,
      bytes ${integer} not null,
      reserved_bytes ${integer} not null,
      changes ${integer} not null,
      rewritten_to ${integer},
      created_at ${integer} not null,
      updated_at ${integer} not null
    )`,
    'create unique index record_collections_name on record_collections (repo_id, name)',
    // Those whose rows are being rewritten.
    'create index record_collections_rewriting on record_collections (rewritten_to) where rewritten_to is not null',

    // `seq` is the order in which rows were made, `change` that in which they were last written.
    `create table records (
      id ${text} primary key,
      collection_id ${text} not null,
      seq ${integer} not null,
      change ${integer} not null,
      version ${integer} not null,
      revision ${integer} not null,
      data ${text} not null,
      bytes ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    )`,
    'create unique index records_seq on records (collection_id, seq)',
    'create index records_change on records (collection_id, change)',

    // Indexes are rows: one for each record and index, in the order of the values.
    `create table record_entries (
      index_id ${text} not null,
      key ${text} not null,
      seq ${integer} not null,
      record_id ${text} not null,
      primary key (index_id, key, seq)
    )`,
    'create index record_entries_record on record_entries (record_id)',
    // What becomes of an index: it is prepared, in force, and dropped, and then its entries go.
    `create table record_indexes (
      id ${text} primary key,
      collection_id ${text} not null,
      state ${text} not null,
      touched_at ${integer} not null
    )`,
    `create index record_indexes_idle on record_indexes (state, touched_at) where state <> 'in force'`,
    'create index record_indexes_collection on record_indexes (collection_id)',
  ],
}
