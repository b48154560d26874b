// Held against the types by the compiler, and never run.

import type { Context, Payload, RecordTrigger, Wake, WorkflowContext } from '@trellis/extension'

export async function granted(
  input: { path: string },
  ctx: Context<'repo:read' | 'records:write' | 'net:api.example.com' | 'secret:API_TOKEN'>,
) {
  ctx.log('reading', { path: input.path })
  const text = await ctx.repo.readText(input.path)
  const row = await ctx.records.create('task', { title: text ?? '' })
  await ctx.fetch('https://api.example.com/', {
    signal: ctx.signal,
    headers: { token: ctx.secrets.API_TOKEN ?? '' },
  })
  // @ts-expect-error: to write was not asked for
  await ctx.repo.commit({ branch: 'main', message: 'x', changes: [] })
  // @ts-expect-error: nor to read records
  await ctx.records.list('task')
  // @ts-expect-error: this secret neither
  ctx.secrets.OTHER
  return row.data.title
}

export function onBranches(_input: unknown, ctx: Context) {
  // @ts-expect-error: it may be absent
  ctx.repo.branches()
  return ctx.repo?.branches()
}

export async function workflow(_input: Wake, ctx: WorkflowContext) {
  const answer = await ctx.step.do('ask', { retries: 3, backoff: 'exponential' }, () => 42)
  await ctx.step.sleep('rest', 1000)
  const event = await ctx.step.waitForEvent('wait', { type: 'task.done', timeoutMs: 1000 })
  return [answer, event?.id ?? null]
}

export const onRecord = ({ row, before }: RecordTrigger<{ status: string }>) =>
  row.data.status !== before?.status

export const payload: Payload = ({ type, subject }) => ({ text: `${type} ${subject ?? ''}` })
