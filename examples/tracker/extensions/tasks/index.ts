import type { Context, ContextError, RecordTrigger } from '@trellis/extension'
import areas from '../../areas.json' with { type: 'json' }
import type { Task } from '../../lib/rows.ts'

type Granted = Context<'records:read' | 'records:write' | 'events:emit'>

export default async function (input: RecordTrigger<Task>, ctx: Granted) {
  const { hook, row } = input
  if (hook === 'create') return { assignee: await assign(row.id, ctx) }
  if (row.data.status !== 'done') return {}
  const { title, assignee } = row.data
  await ctx.events.emit('task.closed', {
    subject: `task/${row.id}`,
    payload: { title, assignee: assignee ?? null },
  })
  return { closed: row.id }
}

/** Gives a task to the one whose area it is in, unless somebody has it. */
async function assign(id: string, ctx: Granted): Promise<string | null> {
  const { revision, data } = await ctx.records.get<Task>('task', id)
  if (data.assignee !== undefined) return data.assignee
  const assignee = ownerOf(data.area)
  if (assignee === undefined) return null
  try {
    await ctx.records.update<Task>('task', id, { revision, data: { assignee } })
    return assignee
  } catch (error) {
    // Somebody was faster: perhaps they have assigned it.
    if ((error as ContextError).code === 'RECORD_REVISION_CONFLICT') return assign(id, ctx)
    throw error
  }
}

const ownerOf = (area: string | undefined): string | undefined =>
  Object.entries(areas).find(([name]) => name === area)?.[1]
