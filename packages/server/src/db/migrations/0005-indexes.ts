import type { Migration } from './index.ts'

export const indexes: Migration = {
  name: 'indexes',
  statements: () => [
    // Few repositories and organizations end by themselves. The others need not be in the indexes that find those.
    ...[
      { table: 'repos', column: 'expires_at' },
      { table: 'orgs', column: 'expires_at' },
      { table: 'orgs', column: 'address' },
    ].flatMap(({ table, column }) => [
      `drop index ${table}_${column}`,
      `create index ${table}_${column} on ${table} (${column}) where ${column} is not null`,
    ]),
    // Looked through whenever an organization is deleted.
    'create index anonymous_callers_org_id on anonymous_callers (org_id)',
  ],
}
