import type { Context, ContextError, RecordRow, Wake } from '@trellis/extension'
import { allRows, type Task } from '../../lib/rows.ts'

type Ctx = Context<'records:read' | 'records:write' | 'events:emit'>

export default async function ({ reason }: Wake, ctx: Ctx) {
  const late = { status: { in: ['open', 'doing', 'blocked'] }, due: { lt: Date.now() } }
  let told = 0
  for await (const task of allRows<Task>(ctx.records, 'task', late)) {
    ctx.signal.throwIfAborted()
    if (task.data.remindedOf !== task.data.due && (await remind(task, ctx))) told++
  }
  ctx.log(`told of ${told} tasks`, { reason })
  return { told }
}

/** Notes it first: twice is worse than once too few, and the next due date is told anyway. */
async function remind({ id, revision, data }: RecordRow<Task>, ctx: Ctx): Promise<boolean> {
  const { title, assignee, due } = data
  try {
    await ctx.records.update<Task>('task', id, { revision, data: { remindedOf: due ?? null } })
  } catch (error) {
    // It has just been changed, and is looked at again with the next wake.
    if ((error as ContextError).code === 'RECORD_REVISION_CONFLICT') return false
    throw error
  }
  await ctx.events.emit('task.overdue', {
    subject: `task/${id}`,
    payload: { title, assignee: assignee ?? null, due: due ?? null },
  })
  return true
}
