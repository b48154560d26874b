import type { FollowsPromotion } from '../extensions/promotion.ts'
import * as triggers from './trigger-store.ts'

/** What of a commit listens to what, kept as rows: every change asks for them. */
export const listenAnew: FollowsPromotion = async (tx, repo, extensions) => {
  const rows = extensions.map(({ name, descriptor: { on = {}, record } }): triggers.TriggerRow => {
    const { push, event } = on
    return {
      repo_id: repo.id,
      extension: name,
      run_id: '',
      step: 0,
      on_push: push ? JSON.stringify({ push }) : null,
      on_event: event ? JSON.stringify({ event }) : null,
      record_name: record?.name ?? null,
      on_create: Number(record?.hooks?.onCreate ?? false),
      on_transition: Number(record?.hooks?.onTransition ?? false),
    }
  })
  await triggers.replaceTriggers(
    tx,
    repo.id,
    rows.filter((row) => row.on_push || row.on_event || row.on_create || row.on_transition),
  )
}
