import type { Migration } from './index.ts'

/** Webhooks that a repository declares itself, some with a module that makes their bodies. */
export const declaredWebhooks: Migration = {
  name: 'declared webhooks',
  statements: ({ integer }) => [
    `alter table webhooks add column declared ${integer} not null default 0`,
    'create index webhooks_module on webhooks (module_hash) where module_hash is not null',
    `alter table webhook_deliveries add column made ${integer} not null default 1`,
  ],
}
