import type { Migration } from './index.ts'

/** When packs were last read to the end and what was found, and sizes that are those of the packs. */
export const packHealth: Migration = {
  name: 'pack health',
  statements: ({ text, integer }) => [
    `alter table packs add column checked_at ${integer} not null default 0`,
    // Null while nothing is known to be wrong.
    `alter table packs add column damage ${text}`,
    'create index packs_checked_at on packs (checked_at)',
    'create index packs_damage on packs (damage) where damage is not null',
    // Folding packs did not change the size of a repository so far.
    `update repos set size_bytes = (
      select coalesce(sum(packs.bytes), 0) from repo_packs
      join packs on packs.id = repo_packs.pack_id where repo_packs.repo_id = repos.id
    )`,
  ],
}
