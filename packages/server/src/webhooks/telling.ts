import type { Author } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import type { WebhookRow } from './store.ts'

/** What every event about a webhook says. */
export const told = (author: Author, { id, repo_id, name }: WebhookRow, more: object = {}) => ({
  ...author,
  scope: repoScope(repo_id),
  subject: name,
  payload: { webhookId: id, name, ...more },
})
