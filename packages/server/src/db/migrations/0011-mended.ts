import type { Migration } from './index.ts'

/** What earlier migrations have left undone. */
export const mended: Migration = {
  name: 'mended',
  statements: async ({ integer }, hasColumn) => [
    // The second migration was edited after it had landed: databases from before have no such column.
    ...((await hasColumn('packs', 'unlisted_at'))
      ? []
      : [`alter table packs add column unlisted_at ${integer}`]),
    // The ninth counted repositories anew, and not what those of an organization take together.
    `update orgs set size_bytes = coalesce(
      (select sum(repos.size_bytes) from repos where repos.org_id = orgs.id), 0)`,
  ],
}
